import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { boardPeriods } from '../../src/contract/records/launchpad.ts';
import { repeats, seedsOf } from '../repeats.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { type Rng, rngOf } from '../sim/rng.ts';
import { argv, openDesk, openHome } from './harness.ts';
import { receiptOf } from './numbers.ts';
import { board } from './records.ts';
import { withService } from './service.ts';

const seeds = seedsOf(repeats('CAMPAIGN_RUNS', 1, 100));
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Asked {
  readonly period: (typeof boardPeriods)[number];
  readonly since: number;
  readonly until: number;
  readonly every: number;
}

/** The snapshots of a stretch by the state of the sandbox, oldest first. */
function boardsOf({ world }: Pick<Sandbox, 'world'>, { period, since, until, every }: Asked) {
  const boards = new Map<number, ReturnType<typeof world.board>>();
  for (let at = until; at > since; at -= every) {
    const board = world.board(period, at);
    if (board.capturedAt !== null) boards.set(board.capturedAt, board);
  }
  return [...boards.values()].toSorted(
    (one, two) => Number(one.capturedAt) - Number(two.capturedAt),
  );
}

/** A call for each snapshot, and one that shows that there is none before. */
function callsFor(sandbox: Pick<Sandbox, 'world'>, asked: Asked): number {
  const { period, since, until, every } = asked;
  const oldest = until - (Math.ceil((until - since) / every) - 1) * every;
  const isBefore = sandbox.world.board(period, oldest).capturedAt === null;
  return boardsOf(sandbox, asked).length + (isBefore ? 1 : 0);
}

const rowsOf = (sandbox: Pick<Sandbox, 'world'>, asked: Asked) =>
  boardsOf(sandbox, asked).flatMap(({ period, capturedAt, entries }) =>
    entries.map((entry) => ({ ...entry, period, capturedAt })),
  );

function askedBy(dice: Rng, now: number): Asked {
  const until = now - dice.int(5 * DAY);
  const every = dice.pick([HOUR, 6 * HOUR, DAY, DAY + 1, 3 * DAY]);
  return { period: dice.pick(boardPeriods), since: until - 1 - dice.int(24 * every), until, every };
}

const wordsOf = ({ period, since, until, every }: Asked): string[] => [
  ...['launchpad', 'history', '--period', period, '--every', `${every}ms`],
  ...['--since', String(since), '--until', String(until)],
];

const faults =
  '500@launchpad.board=15%, lost@launchpad.board=5%, reset@launchpad.board=10%, html@launchpad.board=5%';

describe('trdr launchpad history', () => {
  test.each(seeds)('prints each snapshot once, and pays once for it (SEED=%i)', async (seed) => {
    const dice = rngOf(seed);
    const { sandbox, run } = await openDesk();
    const asked = askedBy(dice, sandbox.clock.now());
    const words = wordsOf(asked);
    const price = (await run([...words, '--dry-run'])).records();
    const ran = await run(words);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.records()).toEqual(rowsOf(sandbox, asked));
    const calls = callsFor(sandbox, asked);
    expect(sandbox.meter().totalUnits).toBe(10 * calls);
    const most = price.reduce((sum, call) => sum + Number(call['most']), 0);
    expect(10 * calls).toBeLessThanOrEqual(most);
  });

  test.each([
    ['lost', 10, 'BROKEN'],
    ['html', 10, 'BAD_ANSWER'],
    ['500', undefined, 'INTERNAL_ERROR'],
    ['reset', 10, 'BROKEN'],
  ])('an answer that is lost (%s) is noted with its cost', async (fault, cuAtMost, code) => {
    const { home, run } = await openDesk({ faults: `${fault}@launchpad.board=100%` });
    const out = home.at('boards.ndjson');
    const ran = await run(argv`launchpad history --since 3d --out ${out} --retries 0 --timeout 1s`);
    // A snapshot is cheap: the error is that of the call, and a person may try it again.
    expect([ran.exitCode, ran.error()]).toMatchObject([9, { code, retryable: true }]);
    expect(ran.error()['hint']).not.toContain('--resume');
    const heads = existsSync(`${out}.journal`)
      ? readdirSync(`${out}.journal`)
          .filter((name) => /^\d/.test(name))
          .map((name) =>
            JSON.parse(readFileSync(join(`${out}.journal`, name), 'utf8').split('\n')[0] ?? ''),
          )
      : [];
    expect(heads.map((head) => [head.kind, head.cuAtMost])).toEqual(
      cuAtMost === undefined ? [] : [['lost', cuAtMost]],
    );
  });

  test.each(seeds)('resumes an export, and pays for no answer twice (SEED=%i)', async (seed) => {
    const dice = rngOf(seed);
    const { sandbox, home, run } = await openDesk({ faults, seed });
    const asked = askedBy(dice, sandbox.clock.now());
    const out = home.at('boards.ndjson');
    const limit = dice.chance(0.5) ? ['--max-cu', '50'] : ['--yes'];
    const words = [...wordsOf(asked), '--out', out, '--resume', '--retries', '0', ...limit];
    for (let runs = 0, exitCode = -1; exitCode !== 0; runs++) {
      expect(runs, `SEED=${seed}`).toBeLessThan(300);
      const ran = await run(words);
      exitCode = ran.exitCode;
      expect([0, 6, 9], ran.stderr).toContain(exitCode);
      // What a limit leaves out is the oldest, and what there is was paid for.
      if (exitCode === 6 && existsSync(out)) {
        const rows = readFileSync(out, 'utf8').trim().split('\n');
        expect(JSON.parse(rows.at(-1) ?? '{}')).toEqual(rowsOf(sandbox, asked).at(-1));
      }
    }
    const rows = readFileSync(out, 'utf8').split('\n').filter(Boolean);
    expect(rows.map((row) => JSON.parse(row))).toEqual(rowsOf(sandbox, asked));
    expect(existsSync(`${out}.journal`)).toBe(false);
    const { cu: certain } = receiptOf(home);
    // Answers that cannot be read are charged and certain, too.
    expect(certain).toBeGreaterThanOrEqual(10 * callsFor(sandbox, asked));
    expect(sandbox.meter().totalUnits).toBeGreaterThanOrEqual(certain);
    const again = await run(words);
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('is finished')]);
  });

  test('prints only the traders that are named, by name or wallet, through renames', async () => {
    const { sandbox, run } = await openDesk();
    const now = sandbox.clock.now();
    const asked: Asked = { period: 'weekly', since: now - 5 * DAY, until: now, every: DAY };
    const rows = rowsOf(sandbox, asked);
    const one = rows.find(({ username }) => username !== null);
    const two = rows.findLast(({ username }) => username === null);
    const names = [`@${one?.username?.toUpperCase()}`, two?.wallet ?? ''];
    const ran = await run([...wordsOf(asked), ...names]);
    const wanted = rows.filter(({ wallet }) => [one?.wallet, two?.wallet].includes(wallet));
    expect(ran.records()).toEqual(wanted);
    const nobody = await run([...wordsOf(asked), 'nosuch-name']);
    expect([nobody.exitCode, nobody.stdout]).toEqual([3, '']);
    expect(nobody.stderr).toContain(
      'not on the leaderboard in any of these snapshots: nosuch-name',
    );
  });

  test('shows a line per trader, with a gap where the trader is not on the board', async () => {
    const at = (day: number) => Date.UTC(2026, 0, day);
    const boardOf = (day: number, rows: readonly (readonly [string, string, number])[]) => ({
      ...{ ...board(), capturedAt: at(day), count: rows.length },
      entries: rows.map(([wallet, username, pnlUsd], row) => ({
        ...{ ...board().entries[0], rank: row + 1, wallet, username, pnlUsd },
      })),
    });
    const boards = [
      boardOf(4, [
        ['w1', 'mira', 400],
        ['w2', 'theo', 0],
      ]),
      boardOf(3, [['w2', 'theo', 300]]),
      boardOf(2, [
        ['w3', 'juno', 200],
        ['w1', 'old-mira', 100],
      ]),
    ];
    const empty = { period: 'weekly', capturedAt: null, count: 0, entries: [] };
    const service = await withService(({ path }) => {
      const time = Number(new URL(path, 'http://service').searchParams.get('at'));
      // A snapshot may be missing between others.
      if (time === at(3))
        return { status: 404, body: { error: { code: 'NOT_OBSERVED', message: 'none' } } };
      return { body: boards.find(({ capturedAt }) => capturedAt <= time) ?? empty };
    });
    const words =
      'launchpad history --since 2026-01-01 --until 2026-01-04 --utc --color never'.split(' ');
    const run = async (env: Record<string, string>, ...names: string[]) =>
      await openHome().run([...words, ...names], { sandbox: service, tty: true, env });
    const drawn = await run({ LANG: 'C.UTF-8' });
    expect(drawn.stdout.split('\n').map((line) => line.trimEnd())).toEqual([
      'user  # first  # last  PnL first  PnL last  PnL  on      wallet',
      '────  ───────  ──────  ─────────  ────────  ───  ──────  ──────',
      'mira        2       1   +$100.00  +$400.00  ▁█   2 of 2  w1',
      'theo        —       2          —     $0.00   ▄   1 of 2  w2',
      'juno        1       —   +$200.00         —  ▄    1 of 2  w3',
      '',
    ]);
    expect(drawn.said).toContain('2 snapshots, from 2026-01-02T00:00Z to 2026-01-04T00:00Z');
    expect(drawn.said).toContain('no snapshot on record for 2026-01-03T00:00Z');
    const summary = (await run({}, '--summary', '-o', 'ndjson')).records();
    expect(summary.map(({ wallet, ...figures }) => [wallet, Object.values(figures)])).toEqual([
      ['w1', ['mira', 'weekly', at(2), at(4), 2, 2, 2, 1, 1, 100, 400, 100, 400]],
      ['w2', ['theo', 'weekly', at(2), at(4), 2, 1, null, 2, 2, null, 0, 0, 0]],
      ['w3', ['juno', 'weekly', at(2), at(4), 2, 1, 1, null, 1, 200, null, 200, 200]],
    ]);
    const best = await run({}, '--summary', '--top', '2', '-o', 'csv', '--fields', 'wallet,stood');
    expect(best.stdout.replaceAll('\r', '')).toBe('wallet,stood\nw1,2\nw2,1\n');
    expect((await run({}, '--top', '1')).stdout).not.toContain('theo');
    const entries = (await run({}, '--top', '1', '-o', 'ndjson')).records();
    expect(entries.map(({ username }) => username)).toEqual(['old-mira', 'mira']);
    const spoken = await run({ LANG: 'C.UTF-8', TERM: 'dumb' }, 'old-mira', 'theo');
    expect(spoken.stdout).toContain('+$100.00 to +$400.00');
    expect(spoken.stdout).not.toMatch(/[▁-█]|juno/);
  });

  test('prints a snapshot once, although the service sends it for earlier times too', async () => {
    const { period, entries } = board();
    const capturedAt = Date.UTC(2026, 1, 1);
    const service = await withService(() => ({ body: { ...board(), capturedAt } }));
    const words = ['launchpad', 'history', '--since', '2026-01-01', '--until', '2026-01-04'];
    const ran = await openHome().run(words, { sandbox: service });
    expect(ran.records()).toEqual(entries.map((entry) => ({ ...entry, period, capturedAt })));
    expect(service.calls.length).toBe(3);
  });

  test('ends at the first snapshot, and says what the service does not have', async () => {
    const { sandbox, run } = await openDesk();
    const ran = await run('launchpad history --since 3000d --every 50d');
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toMatch(/no snapshot on record at or before .*: 5\d of 60 times have none/);
    expect(sandbox.meter().totalUnits).toBeLessThanOrEqual(90);
    const nothing = await run('launchpad history --since 2001-01-01 --until 2001-01-02');
    expect([nothing.exitCode, nothing.stdout]).toEqual([0, '']);
  });

  test('a month of days is priced before, and asks beyond the threshold', async () => {
    const { sandbox, run } = await openDesk();
    await run('config set confirmAbove 250');
    const month = ['launchpad', 'history', '--since', '30d', '--until', '2999-01-01'];
    const price = (await run([...month, '--dry-run'])).records();
    expect(price.length).toBe(30);
    expect(price.reduce((sum, call) => sum + Number(call['most']), 0)).toBe(300);
    const declined = await run(month);
    expect(declined.exitCode, declined.stderr).toBe(11);
    expect(sandbox.meter().totalUnits).toBe(0);
    const ran = await run([...month, '--yes', '--fields', 'capturedAt,rank']);
    expect([ran.exitCode, sandbox.meter().totalUnits]).toEqual([0, 300]);
    expect(new Set(ran.records().map((row) => row['capturedAt'])).size).toBe(30);
  });

  test('prints what was paid for when it fails, with the command that continues', async () => {
    const { sandbox, run } = await openDesk();
    const words = ['launchpad', 'history', '--since', '5d'];
    const first = await run([...words, '--max-cu', '20']);
    expect(first.exitCode).toBe(6);
    const [, next] = /continue with: trdr (.*)$/.exec(String(first.error()['hint'])) ?? [];
    const rest = await run((next ?? '').replace('--max-cu 20', '--yes'));
    expect(rest.exitCode, rest.stderr).toBe(0);
    const now = sandbox.clock.now();
    const asked: Asked = { period: 'weekly', since: now - 5 * DAY, until: now, every: DAY };
    expect([...rest.records(), ...first.records()]).toEqual(rowsOf(sandbox, asked));
    expect(sandbox.meter().totalUnits).toBe(50);
  });

  test('resumes only the same history, with its own names and times', async () => {
    const { home, run } = await openDesk();
    const out = home.at('boards.csv');
    const words = ['launchpad', 'history', '--since', '5d', '--out', out];
    expect((await run([...words, '--max-cu', '20'])).exitCode).toBe(6);
    const other = await run([...words, '--period', 'daily', '--resume']);
    expect([other.exitCode, other.said]).toEqual([2, expect.stringContaining('--since, --until')]);
    const price = (await run([...words, '--resume', '--dry-run'])).records();
    expect(price.length).toBe(3);
    expect((await run([...words, '--resume', 'nosuch'])).exitCode).toBe(3);
    writeFileSync(out, 'mine');
    expect((await run(words)).exitCode).toBe(11);
    expect((await run([...words, '--fresh'])).exitCode).toBe(0);
  });
});
