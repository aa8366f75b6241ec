import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters as plain } from 'node:util';
import { expect, test } from 'vitest';
import { type Home, openDesk, runInProcess, withSandbox } from './harness.ts';

type Sandbox = Awaited<ReturnType<typeof withSandbox>>;

const NOBODY = '11111111111111111111111111111112';

test.each([
  ['table', 'not asked'],
  ['markdown', 'not asked'],
  ['csv', 'NOT_ASKED'],
  ['json', '"code":"NOT_ASKED"'],
  ['ndjson', '"code":"NOT_ASKED"'],
])('a wallet that no cheap way finds is printed as %s, and exits 3', async (format, text) => {
  const sandbox = await withSandbox();
  const words = ['whois', NOBODY, '--cheap', '-o', format];
  const one = await runInProcess(words, { sandbox });
  expect([one.exitCode, sandbox.meter().totalUnits], one.stderr).toEqual([3, 10]);
  expect(one.stdout).toContain(text);
  const some = await runInProcess([...words, 'mira'], { sandbox });
  expect([some.exitCode, some.stderr]).toEqual([0, '']);
});

test('the wallet of a trader who was looked up costs nothing, and 100 CU to confirm', async () => {
  const { sandbox, home } = await openDesk();
  const run = (...words: string[]) => home.run(['whois', ...words], { sandbox });
  await run('mira');
  const wallet = sandbox.world.user('mira')?.solanaAddress ?? '';
  expect((await run(wallet)).stdout).toMatch(/"handle":"mira".*"via":"book"/);
  expect(sandbox.meter().totalUnits).toBe(100);
  await run(wallet, '--max-age', '1ms');
  expect(sandbox.meter().totalUnits).toBe(200);
});

test('the card of a trader shows what was different before, and when', async () => {
  const { sandbox, run } = await openDesk();
  const show = (...words: string[]) =>
    run(['whois', 'mira', '--history', '--utc', ...words], { tty: true });
  expect((await show()).stdout).toContain('nothing else was seen before');
  const { id, solanaAddress } = sandbox.world.user('mira') ?? {};
  sandbox.world.rename(id ?? '', 'mira_two');
  await run(['whois', id ?? '', '--max-age', '1ms']);
  const card = await run(['whois', id ?? '', '--history', '--utc'], { tty: true });
  expect(card.stdout).toMatch(/@mira_two/);
  expect(plain(card.stdout)).toMatch(/earlier +first seen \(UTC\) +last seen \(UTC\)/);
  expect(plain(card.stdout)).toMatch(/handle +@mira +[\d: -]+/);
  expect(card.stdout).toContain(solanaAddress);
  expect(card.stdout).not.toContain('nothing else');
});

async function peopleIn(home: Home, sandbox: Sandbox): Promise<unknown> {
  const { stdout } = await home.run('cache stats -o ndjson', { sandbox });
  return JSON.parse(stdout).people;
}

test('a tail notes the authors of its posts, so that a later lookup tells who was renamed', async () => {
  const { sandbox, home, run } = await openDesk();
  const words = ['thesis', 'tail', '--no-follow', '--backfill', '60', '--yes'];
  const posts = (await run(words)).records();
  const authors = new Map(posts.map((post) => [String(post['authorId']), post['authorHandle']]));
  expect(authors.size).toBeGreaterThan(3);
  expect(await peopleIn(home, sandbox)).toBe(authors.size);
  const [[id, handle] = ['', '']] = authors;
  sandbox.world.rename(id, 'somebody_else');
  const [user] = (await run(['whois', id, '--history'])).records();
  expect(user).toMatchObject({ handle: 'somebody_else', was: [{ handle }] });
});

test.each(['thesis tail --no-follow --backfill 20 --yes', 'thesis list --limit 20'])(
  '%s prints all posts if their authors cannot be noted',
  async (words) => {
    const { home, run } = await openDesk();
    const folder = join(home.state, 'people');
    await run('whois mira');
    expect(existsSync(folder)).toBe(true);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file in the place of the folder');
    const { exitCode, records, stderr } = await run(words);
    expect([exitCode, records().length]).toEqual([0, 20]);
    expect(stderr).toMatch(/trdr: answers are not saved for later runs: cannot write/);
  },
);

test('with a spending limit, what is cheap is found for all wallets before anything dear is paid for', async () => {
  const { sandbox, run } = await openDesk();
  const handles = ['mira', 'solwolf', 'quantumhawk'];
  await run(['whois', ...handles]);
  const wallets = handles.map((handle) => sandbox.world.user(handle)?.solanaAddress ?? '');
  // These belong to no one, so that each would cost 210 CU before the wallets behind them are reached.
  const others = ['2', '3', '4', '5', '6'].map((digit) => `${'1'.repeat(31)}${digit}`);
  const words = ['whois', '-', '--max-age', '1ms', '--max-cu', '800'];
  const stdin = [...others, ...wallets].join('\n');
  const before = sandbox.meter().totalUnits;
  const { exitCode, records, stderr } = await run(words, { stdin });
  const found = records().filter(({ found }) => found === true);
  expect(found.map(({ subject }) => subject)).toEqual(wallets);
  expect([exitCode, sandbox.meter().totalUnits - before <= 800], stderr).toEqual([6, true]);
  expect(stderr).toContain('skipped 5 subjects: ');
});

test('a comparison of numbers follows a trader who was renamed, though no wallet is shown', async () => {
  const { sandbox, home } = await openDesk();
  const run = (...words: string[]) => home.run(words, { sandbox });
  const id = sandbox.world.user('mira')?.id ?? '';
  await run('whois', id);
  const [record] = (await run('pnl', 'mira')).records();
  const hidden = { ...record, wallet: null, evmWallet: null };
  home.write('old.ndjson', `${JSON.stringify(hidden)}\n`);
  sandbox.world.rename(id, 'mira_two');
  const compare = () => run('pnl', '@mira_two', '--compare', 'old.ndjson', '--yes');
  expect((await compare()).records().map(({ change }) => change)).toEqual(['new', 'left']);
  await run('whois', id, '--max-age', '1ms');
  const rows = (await compare()).records();
  expect(rows).toMatchObject([{ handle: 'mira_two', was: 'mira', change: 'changed' }]);
});

test.each([
  ['whois WALLET', true],
  ['whois WALLET --direct --yes', false],
  ['author WALLET --limit 20', true],
  ['thesis list --user WALLET --limit 1', true],
  ['pnl WALLET --yes', true],
  ['whois mira', false],
  ['launchpad callers WALLET', false],
])('a wallet of two users who were read before: %s says so, once: %j', async (line, isSaid) => {
  const { sandbox, home } = await openDesk();
  await home.run(['whois', 'mira', 'mira_alt'], { sandbox });
  const wallet = sandbox.world.user('mira')?.solanaAddress ?? '';
  const words = line.split(' ').map((word) => (word === 'WALLET' ? wallet : word));
  const { exitCode, said } = await home.run(words, { sandbox });
  expect(exitCode, said).toBe(0);
  const text = `${wallet} belongs to several users who were read before`;
  expect(said.split(text)).toHaveLength(isSaid ? 2 : 1);
});
