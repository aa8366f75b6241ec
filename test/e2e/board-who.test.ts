import { expect, test } from 'vitest';
import { openDesk, openHome, withSandbox } from './harness.ts';

const WORDS = ['launchpad', 'board', '--who'];

test('the leaderboard says who is behind a wallet only if the record has it, and pays nothing twice', async () => {
  const sandbox = await withSandbox();
  const { run } = openHome();
  const first = await run(WORDS, { sandbox });
  const paid = sandbox.meter().totalUnits;
  const rows = first.records();
  expect([first.exitCode, first.stderr, rows.length]).toEqual([0, '', 100]);
  const named = rows.filter(({ trader }) => trader !== null);
  expect(named.length).toBeGreaterThan(10);
  for (const { wallet, trader, traderId } of named) {
    const user = sandbox.world.user(String(trader));
    expect([user?.solanaAddress, user?.id]).toEqual([wallet, traderId]);
  }
  for (const row of rows) if (row['trader'] === null) expect(row['traderId']).toBeNull();
  // 110 CU a wallet, or 210 if its launchpad name is unknown to the service; never the price of a wallet.
  expect(paid).toBeLessThan(10 + 100 * 210);
  const again = await run(WORDS, { sandbox });
  expect(again.records()).toEqual(rows);
  expect(sandbox.meter().totalUnits).toBe(paid + 10);
});

test('traders are added to the rows of a comparison, after they were chosen', async () => {
  const { sandbox, run } = await openDesk();
  const words = [...WORDS, '--compare', '7d', '--top', '5', '--only', 'left'];
  const { records, exitCode } = await run(words);
  expect(exitCode).toBe(0);
  const rows = records();
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row).toMatchObject({ change: 'left', rank: null });
  for (const row of rows) expect(row).toHaveProperty('trader');
  expect(sandbox.meter().totalUnits).toBeLessThanOrEqual(20 + rows.length * 210);
});

test.each([
  ['a spending limit', ['--max-cu', '400'], undefined, 6],
  ['a key that is rejected', [], '401@user.handle+2=100%', 4],
  ['a service that fails', ['--retries', '0'], '500@user.handle+2=100%', 9],
] as const)('every row comes, and then %s ends the run', async (_, flags, faults, exit) => {
  const { sandbox, run } = await openDesk(faults === undefined ? {} : { faults });
  const { exitCode, records, stderr } = await run([...WORDS, ...flags]);
  expect(exitCode, stderr).toBe(exit);
  const { entries } = sandbox.world.board('weekly', sandbox.clock.now());
  const rows = records();
  expect(rows.map(({ wallet }) => wallet)).toEqual(entries.map(({ wallet }) => wallet));
  for (const row of rows) expect(row).toHaveProperty('traderId');
  expect(stderr).toContain('not looked up');
});

test('a board without a known trader says so', async () => {
  const { run } = await openDesk({ faults: '404@launchpad.user=100%' });
  const ran = await run([...WORDS, '--top', '6']);
  expect(ran.records().map(({ trader }) => trader)).toEqual(Array.from({ length: 6 }, () => null));
  expect([ran.exitCode, ran.stderr]).toEqual([0, 'trdr: 0 of 6 wallets have a known trader\n']);
});

test('a lookup that fails leaves one trader unknown, and is reported', async () => {
  const { run } = await openDesk({ faults: '500@launchpad.user+3*1' });
  const words = [...WORDS, '--top', '30', '--retries', '0'];
  const { exitCode, records, stderr } = await run(words);
  expect([exitCode, records().length]).toEqual([0, 30]);
  expect(stderr).toContain('could not look up who is behind 1 wallet: ');
});

test('the traders are in all formats', async () => {
  const sandbox = await withSandbox();
  const { run } = openHome();
  const words = [...WORDS, '--top', '40'];
  const rows = (await run([...words, '-o', 'ndjson'], { sandbox })).records();
  const named = rows.flatMap(({ trader }) => (typeof trader === 'string' ? [trader] : []));
  expect(named).not.toEqual([]);
  for (const format of ['table', 'markdown', 'csv', 'json']) {
    const given = { sandbox, columns: 200, tty: format === 'table' };
    const plain = (await run([...words, '-o', format], given)).stdout.replaceAll('\\', '');
    for (const name of ['trader', ...named]) expect(plain, format).toContain(name);
  }
});

test('a dry run shows the least and the greatest cost, and sends nothing', async () => {
  const { sandbox, run } = await openDesk();
  const { records } = await run([...WORDS, '--top', '10', '--dry-run']);
  const sum = (field: string) => records().reduce((total, row) => total + Number(row[field]), 0);
  expect([sum('least'), sum('most')]).toEqual([10, 10 + 10 * 610]);
  expect(sandbox.meter().totalUnits).toBe(0);
});
