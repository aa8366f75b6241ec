import { stripVTControlCharacters as plain } from 'node:util';
import { expect, test } from 'vitest';
import { openHome, runInProcess, withSandbox } from './harness.ts';

const NOBODY = '11111111111111111111111111111112';

test.each([
  ['table', 'not asked'],
  ['markdown', 'not asked'],
  ['csv', 'NOT_ASKED'],
  ['json', '"code":"NOT_ASKED"'],
  ['ndjson', '"code":"NOT_ASKED"'],
])(
  'a wallet that the cheap ways did not find is printed as %s, and exits 3 like a miss',
  async (format, text) => {
    const sandbox = await withSandbox();
    const words = ['whois', NOBODY, '--cheap', '-o', format];
    const one = await runInProcess(words, { sandbox });
    expect([one.exitCode, sandbox.meter().unitsUsed], one.stderr).toEqual([3, 10]);
    expect(one.stdout).toContain(text);
    const some = await runInProcess([...words, 'mira'], { sandbox });
    expect([some.exitCode, some.stderr]).toEqual([0, '']);
  },
);

test('the wallet of a trader who was looked up costs nothing, and 100 CU to confirm', async () => {
  const sandbox = await withSandbox();
  const home = openHome();
  const run = (...words: string[]) => home.run(['whois', ...words], { sandbox });
  await run('mira');
  const wallet = sandbox.world.user('mira')?.solanaAddress ?? '';
  expect((await run(wallet)).stdout).toMatch(/"handle":"mira".*"via":"book"/);
  expect(sandbox.meter().unitsUsed).toBe(100);
  await run(wallet, '--max-age', '1ms');
  expect(sandbox.meter().unitsUsed).toBe(200);
});

test('the card of a trader shows what was different before, and when', async () => {
  const sandbox = await withSandbox();
  const home = openHome();
  const show = (...words: string[]) =>
    home.run(['whois', 'mira', '--history', '--utc', ...words], { sandbox, tty: true });
  expect((await show()).stdout).toContain('nothing else was seen before');
  const { id, solanaAddress } = sandbox.world.user('mira') ?? {};
  sandbox.world.rename(id ?? '', 'mira_two');
  await home.run(['whois', id ?? '', '--max-age', '1ms'], { sandbox });
  const card = await home.run(['whois', id ?? '', '--history', '--utc'], { sandbox, tty: true });
  expect(card.stdout).toMatch(/@mira_two/);
  expect(plain(card.stdout)).toMatch(/earlier +first seen \(UTC\) +last seen \(UTC\)/);
  expect(plain(card.stdout)).toMatch(/handle +@mira +[\d: -]+/);
  expect(card.stdout).toContain(solanaAddress);
  expect(card.stdout).not.toContain('nothing else');
});

test('a handle that passed to another user is reported', async () => {
  const sandbox = await withSandbox();
  const home = openHome();
  const { id = '' } = sandbox.world.user('mira') ?? {};
  const other = sandbox.world.user('solwolf')?.id ?? '';
  await home.run(['whois', 'mira'], { sandbox });
  sandbox.world.rename(id, 'mira_two');
  sandbox.world.rename(other, 'mira');
  const { stderr } = await home.run(['whois', 'mira', '--max-age', '1ms'], { sandbox });
  expect(stderr).toMatch(
    new RegExp(`@mira now belongs to another user: until [-\\d]+, it belonged to ${id}`),
  );
});
