import { describe, expect, test } from 'vitest';
import type { ThesisFrameData } from '../../src/contract/records/thesis.ts';
import { manualClock } from '../sandbox/clock.ts';
import { openDesk, runInProcess, thesesOf } from './harness.ts';
import { withService } from './service.ts';

const terminal = { tty: true, columns: 200, env: { NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' } };

async function deskWith(changes: Partial<ThesisFrameData>) {
  const desk = await openDesk();
  const [sample] = thesesOf(desk.sandbox);
  if (!sample) throw new Error('no thesis');
  const now = desk.sandbox.clock.now();
  const post = { authorAvatarUrl: null, tokenImageUrl: null, ...sample, ...changes };
  desk.sandbox.post({ ...post, id: 'changed', platformCreatedAt: now, updatedAt: now });
  return desk;
}

describe('a table of theses', () => {
  test.each(['CASH', '$CASH'])('writes the symbol %s with one $', async (tokenSymbol) => {
    const { run } = await deskWith({ tokenSymbol });
    const { stdout } = await run('thesis list --limit 1', terminal);
    expect(stdout).toMatch(/(^|\s)\$CASH\s/);
    expect(stdout).not.toMatch(/\s\$\$CASH\s/);
  });

  test.each([
    [['--token', '1'.repeat(32)], 'the service holds nothing about 1'],
    [['--user', 'quiet'], 'the service holds nothing that quiet posted'],
    [['--user', 'quiet', '--token', '1'.repeat(32)], 'the service holds nothing by quiet about 1'],
    [['--grep', 'no such text', '--limit', '1'], 'no theses match'],
  ])('that is empty says why: %s', async (words, text) => {
    const { run } = await openDesk();
    const { exitCode, said } = await run(['thesis', 'list', ...words], terminal);
    expect([exitCode, said]).toEqual([0, expect.stringContaining(text)]);
  });
});

test.each([
  ['whois', 'mira', 'none on record; "trdr resolve mira" searches live: 30,000 CU'],
  ['whois', 'mira; rm -rf ~', `none on record; "trdr resolve 'mira; rm -rf ~'" searches live`],
  ['resolve', 'mira', 'none found'],
])('the card of trdr %s of %j without a wallet: %s', async (command, handle, text) => {
  const body = { id: 'u1', handle, name: null, solanaAddress: null, evmAddress: null };
  const sandbox = await withService(() => ({ body }));
  const options = { ...terminal, sandbox, differs: true, columns: 200 };
  const { stdout } = await runInProcess([command, 'mira', '--yes'], options);
  expect(stdout).toMatch(/wallet +/);
  expect(stdout).toContain(text);
  expect(stdout.includes('searches live')).toBe(command === 'whois');
});

test.each([
  [{ unitsUsed: 19_000_000 }, '1,000,000 CU; the plan grants 20,000,000 CU'],
  [
    { unitsUsed: 20_000_000, additionalUnits: 500 },
    '500 CU; the plan grants 20,000,000 CU; 500 CU from top-ups',
  ],
  [{ unmetered: true }, 'not limited; the plan grants 20,000,000 CU'],
])('trdr me shows the grant beside what is left: %s', async (options, text) => {
  // The clock of the service stands still, so that no month ends.
  const { run } = await openDesk({ plan: 'growth', clock: manualClock(Date.now()), ...options });
  expect((await run('me', terminal)).stdout).toMatch(new RegExp(`units left +${text}\\n`));
});

test('a missing number in a table of numbers has neither bar nor axis', async () => {
  const { run } = await openDesk();
  const words = ['pnl', 'mira', 'nowallet', 'solwolf', '--window', '24h', '-y'];
  const row = (await run(words, terminal)).lines().find((line) => line.startsWith('@nowallet'));
  expect(row).not.toMatch(/[│█]/);
  expect(row?.match(/—/g)).toHaveLength(5);
});
