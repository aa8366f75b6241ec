import { describe, expect, test } from 'vitest';
import { endpoints } from '../../src/contract/endpoints.ts';
import { Callout } from '../../src/contract/records/launchpad.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { argv, type CommandLine, openDesk, runInProcess, wordsOf } from './harness.ts';
import { anyMe, type Call, withService } from './service.ts';

const NOBODY = '11111111111111111111111111111111';
const HOUR = 3_600_000;

describe('trdr launchpad user', () => {
  test('prints accounts with subject and found, in input order, each requested once', async () => {
    const { sandbox, run } = await openDesk();
    const board = sandbox.world.board('weekly', sandbox.clock.now());
    const [one = NOBODY, two = NOBODY] = board.entries.map((entry) => entry.wallet);
    const { exitCode, records } = await run(['launchpad', 'user', two, NOBODY, one, two]);
    expect(exitCode).toBe(0);
    expect(records()).toEqual([
      { subject: two, found: true, ...sandbox.world.account(two) },
      { subject: NOBODY, found: false, code: 'NOT_OBSERVED' },
      { subject: one, found: true, ...sandbox.world.account(one) },
      { subject: two, found: true, ...sandbox.world.account(two) },
    ]);
    expect(sandbox.meter().totalUnits).toBe(30);
  });

  test('looks up the wallet of a handle or user id first, once, and prices this before', async () => {
    const { sandbox, home } = await openDesk();
    const mira = sandbox.world.user('mira');
    const run = (...words: string[]) => home.run(['launchpad', 'user', ...words], { sandbox });
    const subjects = ['mira', 'nosuch', mira?.id ?? '', 'nowallet', mira?.solanaAddress ?? ''];
    const price = (await run(...subjects, '--dry-run')).records();
    const sum = (name: string) => price.reduce((total, call) => total + Number(call[name]), 0);
    expect([sum('least'), sum('most')]).toEqual([4 * 100 + 10, 4 * 200 + 5 * 10]);
    expect(sandbox.meter().totalUnits).toBe(0);
    const first = await run(...subjects);
    const account = sandbox.world.account(mira?.solanaAddress ?? '');
    expect(first.records()).toEqual([
      { subject: subjects[0], found: true, ...account },
      { subject: subjects[1], found: false, code: 'NOT_OBSERVED' },
      { subject: subjects[2], found: true, ...account },
      { subject: subjects[3], found: false, code: 'NO_WALLET' },
      { subject: subjects[4], found: true, ...account },
    ]);
    expect(sandbox.meter().totalUnits).toBe(100 + 200 + 100 + 100 + 3 * 10);
    expect((await run('mira', '@nosuch')).records()).toMatchObject([
      { found: true },
      { found: false },
    ]);
    expect(sandbox.meter().totalUnits).toBe(530 + 10);
  });
});

describe('trdr launchpad callouts', () => {
  const ids = (records: readonly Record<string, unknown>[]) =>
    records.map((record) => record['id']);

  test('prints every callout once, newest first, unchanged', async () => {
    const { sandbox, run } = await openDesk();
    const { exitCode, records } = await run('launchpad callouts --all');
    expect(exitCode).toBe(0);
    const all = records();
    expect(new Set(ids(all)).size).toBe(all.length);
    const first = sandbox.world.callouts().slice(undefined, 25, sandbox.clock.now());
    expect(ids(all).slice(0, 25)).toEqual(first?.items.map((item) => item.id));
    expect(sandbox.meter().totalUnits).toBe(10 * Math.ceil(all.length / 25));
    for (const record of all) expect(Callout.safeParse(record).success).toBe(true);
  });
});

describe('trdr launchpad board', () => {
  test('prints the entries of the latest snapshot unchanged', async () => {
    const { sandbox, run } = await openDesk();
    const { exitCode, json, stderr } = await run('launchpad board --json');
    expect([exitCode, stderr]).toEqual([0, '']);
    const { period, capturedAt, entries } = sandbox.world.board('weekly', sandbox.clock.now());
    expect(json()).toEqual(entries.map((entry) => ({ ...entry, period, capturedAt })));
  });

  test('selects the snapshot at or before a time, and compares two', async () => {
    const { sandbox, run } = await openDesk();
    const at = sandbox.clock.now() - 48 * HOUR;
    const words = argv`launchpad board --period monthly --at ${String(at)} --compare 9d`;
    const plan = (await run([...words, '--dry-run'])).records();
    expect(plan).toMatchObject([
      { least: 10, most: 10 },
      { least: 10, most: 10 },
    ]);
    expect(sandbox.meter().totalUnits).toBe(0);
    const { records } = await run(words);
    const now = sandbox.world.board('monthly', at).entries;
    const rows = records();
    expect(rows.slice(0, now.length).map((row) => row['wallet'])).toEqual(
      now.map((entry) => entry.wallet),
    );
    const gone = rows.slice(now.length);
    expect(gone.length).toBe(rows.filter((row) => row['change'] === 'new').length);
    expect(new Set(gone.map((row) => row['change']))).toEqual(new Set(['left']));
    expect(sandbox.meter().totalUnits).toBe(20);
  });

  test('reports once that a time has no snapshot', async () => {
    const { run } = await openDesk();
    const ran = await run('launchpad board --at 2020-01-01', { tty: true });
    expect([ran.exitCode, ran.stdout]).toEqual([0, '']);
    expect(ran.stderr).toBe(
      'trdr: no weekly board on record at or before the time of --at\ntrdr: 0 entries, 10 CU, 19.9M CU left\n',
    );
  });

  test('marks no newcomers without an earlier snapshot', async () => {
    const { run } = await openDesk();
    const { records, stderr } = await run('launchpad board --compare 2001-01-01');
    expect(records()[0]).not.toHaveProperty('change');
    expect(stderr).toContain('no snapshot on record at or before the time of --compare');
  });

  test.each(['--only new', '--only left,up -o table', '--changed --out board.csv'])(
    'selects no rows that cannot be compared: %s',
    async (flags) => {
      const { sandbox, run } = await openDesk();
      const ran = await run(`launchpad board --compare 2001-01-01 ${flags}`);
      expect([ran.exitCode, ran.stdout, sandbox.meter().totalUnits]).toEqual([9, '', 10]);
      expect(ran.stderr).toContain('no snapshot on record at or before the time of --compare');
    },
  );

  test('compares a wallet that a board has twice entry by entry', async () => {
    const entry = (rank: number, wallet: string) => ({ rank, wallet, username: wallet, pnlUsd: 1 });
    const boards = [
      [entry(1, 'a'), entry(2, 'b'), entry(6, 'a')],
      [entry(1, 'a'), entry(3, 'b'), entry(6, 'a'), entry(7, 'c'), entry(8, 'c')],
    ];
    const service = await withService(({ path }) => {
      const at = new URL(path, 'http://x').searchParams.has('at') ? 1 : 0;
      const entries = boards[at] ?? [];
      const body = { period: 'weekly', capturedAt: 1e12 - at, count: entries.length, entries };
      return { body };
    });
    const run = (words: CommandLine, columns = 120) =>
      runInProcess(['launchpad', ...wordsOf(words)], {
        sandbox: service,
        differs: true,
        tty: { stdout: words.includes('table') },
        columns,
      });
    const ran = await run('board --compare 1d');
    expect(
      ran.records().map(({ wallet, change, rankChange }) => [wallet, change, rankChange]),
    ).toEqual([
      ['a', 'same', 0],
      ['b', 'up', 1],
      ['a', 'same', 0],
      ['c', 'left', null],
    ]);
    const history = await run('history --since 3d -o table');
    expect(history.stdout).toMatch(/[0-9] of [0-9]/);
    expect(history.stdout).not.toMatch(/([0-9]+) of (?!\1)/);
  });

  test.each([
    ['--compare yesterday', null, '2026-11-21T23:30Z'],
    ['--at 50h --compare yesterday', '2026-11-20T21:30Z', '2026-11-19T21:30Z'],
    ['--at 50h --compare 1d', '2026-11-20T21:30Z', '2026-11-19T21:30Z'],
    ['--at 2026-01-31T12:00Z --compare yesterday', '2026-01-31T12:00Z', '2026-01-30T12:00Z'],
    [
      '--at 2026-01-31T12:00Z --compare 2026-01-01T00:00Z',
      '2026-01-31T12:00Z',
      '2026-01-01T00:00Z',
    ],
  ])('counts back from the board, by the clock of the service: %s', async (flags, ...times) => {
    const now = Date.parse('2026-11-22T23:30Z');
    const board = { period: 'weekly', capturedAt: null, count: 0, entries: [] };
    // A Date header may be a second old.
    const headers = { date: new Date(now - 1_000).toUTCString() };
    const answer = ({ path }: Call) => ({
      body: path === endpoints.me.path ? anyMe : board,
      headers,
    });
    const service = await withService(answer, { ownMe: true });
    const words = ['launchpad', 'board', ...flags.split(' ')];
    const { exitCode } = await runInProcess(words, {
      sandbox: service,
      clock: virtualClock(now + 5 * HOUR),
    });
    const asked = service.calls
      .filter((call) => call !== 'GET /v2/me')
      .map((call) => new URL(call.slice(4), service.url).searchParams.get('at'));
    expect([exitCode, asked]).toEqual([0, times.map((time) => time && String(Date.parse(time)))]);
  });

  const AT = Date.parse('2026-11-22T23:30:00.500Z');
  test.each<[unknown, string]>([
    [AT, '2026-11-22T23:30Z'],
    [new Date(AT).toISOString(), '2026-11-22T23:30Z'],
    [`${AT}`, '2026-11-22T23:30Z'],
    [Math.floor(AT / 1_000), 'an unknown time'],
    [undefined, 'an unknown time'],
  ])('says of when a snapshot of %j is', async (capturedAt, text) => {
    const entries = [{ rank: 1, wallet: 'w', username: null, pnlUsd: 1 }];
    const body = { period: 'weekly', capturedAt, count: 1, entries };
    const sandbox = await withService(() => ({ body }));
    const words = ['launchpad', 'board', '--compare', '1d', '-o', 'table', '--utc'];
    const { said } = await runInProcess(words, { sandbox, tty: true });
    expect(said).toContain(`weekly board of ${text}`);
    expect(said.includes('nothing changed')).toBe(text !== 'an unknown time');
    const captured = ['launchpad', 'board', '--fields', 'capturedAt'];
    const table = await runInProcess([...captured, '-o', 'table'], { sandbox, tty: true });
    expect(table.stdout).not.toContain('1970');
    const iso = await runInProcess([...captured, '--times', 'iso'], { sandbox });
    const isMs = typeof capturedAt === 'number' && capturedAt === AT;
    const printed = isMs ? new Date(AT).toISOString() : capturedAt;
    expect(iso.records()).toEqual([printed === undefined ? {} : { capturedAt: printed }]);
  });

  test.each([null, undefined])(
    'compares with no empty board of the time %j, in which everyone would be new',
    async (capturedAt) => {
      const entries = [{ rank: 1, wallet: 'w', username: null, pnlUsd: 1 }];
      const sandbox = await withService(({ path }) => {
        const isEarlier = path.includes('at=');
        const board = { period: 'weekly', count: isEarlier ? 0 : 1 };
        const earlier = { ...board, capturedAt, entries: [] };
        return { body: isEarlier ? earlier : { ...board, capturedAt: AT, entries } };
      });
      const words = ['launchpad', 'board', '--compare', '1d'];
      const ran = await runInProcess(words, { sandbox });
      expect(ran.records().map(({ change }) => change)).toEqual([undefined]);
      expect(ran.said).toContain('no snapshot on record');
    },
  );

  test.each([
    ['fails', { faults: '500@launchpad.board+1=100%' }, 9],
    ['is not afforded', {}, 6],
  ])('prints the board that was paid for if the other one %s', async (_, given, exit) => {
    const { sandbox, run } = await openDesk(given);
    const words = ['launchpad', 'board', '--compare', '2d', '--top', '5', '--retries', '0'];
    const limit = exit === 6 ? ['--max-cu', '10'] : [];
    const { exitCode, records, stderr } = await run([...words, ...limit]);
    const { period, capturedAt, entries } = sandbox.world.board('weekly', sandbox.clock.now());
    expect(exitCode, stderr).toBe(exit);
    const rows = entries.slice(0, 5).map((entry) => ({ ...entry, period, capturedAt }));
    expect(records()).toEqual(rows);
    expect(stderr).toContain('without a comparison');
    expect(sandbox.meter().totalUnits).toBe(10);
  });

  test.each([
    ['the earlier snapshot fails', '500@launchpad.board=100%', '--only new', 0],
    ['the later snapshot fails', '500@launchpad.board+1=100%', '--changed', 10],
  ])('pays for nothing it cannot compare: %s', async (_, faults, selection, cu) => {
    const { sandbox, run } = await openDesk({ faults });
    const ran = await run(`launchpad board --compare 2d ${selection} --retries 0`);
    expect([ran.exitCode, ran.stdout, sandbox.meter().totalUnits]).toEqual([9, '', cu]);
  });
});
