import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { renewalOf } from '../../src/base/periods.ts';
import { leftIn } from '../../src/contract/budget.ts';
import type { PageSource } from '../../src/core/pages/source.ts';
import { Spend } from '../../src/core/spend/spend.ts';
import { openLedger } from '../../src/state/ledger/ledger.ts';
import { readLedger, summarize } from '../../src/state/ledger/read-ledger.ts';
import { Tail } from '../../src/tail/engine.ts';
import type { StartNotice, TailNotice } from '../../src/tail/notice.ts';
import type { Connect, LinkEnd, TailOptions } from '../../src/tail/ports.ts';
import type { TailRow } from '../../src/tail/post-row.ts';
import { withMinutes } from '../../src/tail/socket/minutes.ts';
import { type VirtualClock, virtualClock } from '../core/virtual-clock.ts';
import { openFolder } from '../folder.ts';
import { repeats } from '../repeats.ts';
import { linkTo, sourceOf } from './fakes.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const PAGE = { least: 200, most: 200, reveals: 0 };
const NOON = Date.UTC(2026, 0, 1, 12);

const recordOf = (number: number, everyMs: number) => ({
  id: `p${number}`,
  platformCreatedAt: number * everyMs,
});

/** What the service does: how often it has a post, whether the units are used up, what it has charged. */
interface Served {
  readonly everyMs: number;
  readonly isOut: () => boolean;
  readonly meter: { cu: number };
}

/** A feed with a post every `everyMs` since the epoch, with 20 posts per page. */
function feed(clock: VirtualClock, spend: Spend, { everyMs, isOut, meter }: Served): PageSource {
  const row = (number: number): TailRow => {
    const record = recordOf(number, everyMs);
    return { id: record.id, at: record.platformCreatedAt, record, raw: null };
  };
  return sourceOf(async ({ before, limit }, signal) => {
    if (isOut())
      throw new Failure('quota', 'out of credits', { code: 'QUOTA_EXCEEDED', status: 402 });
    const slot = await spend.reserve({ endpoint: 'thesis.all', bounds: PAGE }, signal);
    slot.settle({ status: 200, cu: 200 });
    meter.cu += 200;
    const newest =
      before === undefined ? Math.floor(clock.now() / everyMs) : Number(before.slice(1)) - 1;
    const rows = Array.from({ length: Math.min(20, limit) }, (_, back) => row(newest - back));
    return { rows, hasMore: true, nextBefore: rows.at(-1)?.id ?? null };
  }, 40);
}

/** A WebSocket that delivers the newest post at least every 15 seconds, and closes when the units are used up. */
const socket =
  (clock: VirtualClock, { everyMs, isOut, meter }: Served): Connect =>
  async (stir, signal) => {
    await clock.sleep(500, signal);
    const state: { signs: number; end?: LinkEnd } = { signs: 1 };
    const over = new AbortController();
    const pings = async () => {
      for (let quarters = 0; ; quarters++) {
        if (quarters % 4 === 0) meter.cu += 20_000;
        await clock.sleep(15_000, AbortSignal.any([signal, over.signal]));
        state.signs++;
        if (!isOut()) {
          const data = recordOf(Math.floor(clock.now() / everyMs), everyMs);
          waiting.push(Buffer.from(JSON.stringify({ type: 'thesis', data })));
          stir();
          continue;
        }
        state.end = { why: 'quota', text: 'quota' };
        stir();
      }
    };
    const waiting = [Buffer.from('{"type":"subscription","subscription":{"type":"all"}}')];
    pings().catch(() => {});
    const close = async () => {
      over.abort();
      return true;
    };
    return linkTo(state, { next: () => waiting.shift(), send: () => stir(), close });
  };

interface Given {
  readonly day?: number;
  readonly month?: number;
  readonly everyMs?: number;
  readonly start?: number;
  readonly runMs: number;
  /** Whether the allowance of the key is used up at a time. */
  readonly isOut?: (now: number) => boolean;
  /** The units that the key has left at a time. */
  readonly remaining?: (now: number) => number;
  /** The units that the key had before the run. */
  readonly units?: number;
  readonly plan?: string;
  readonly options?: Partial<TailOptions>;
  /** Called with each notice, to stop the run or change the budget. */
  readonly onNotice?: (
    notice: TailNotice,
    limits: { budgetDay: number | undefined },
    stop: AbortController,
    clock: VirtualClock,
  ) => void;
}

/** Runs a tail for a while of virtual time. */
async function run({
  day,
  month,
  everyMs = 10 * MINUTE,
  start = NOON,
  runMs,
  options,
  ...given
}: Given) {
  const { isOut = () => false, onNotice } = given;
  const dir = openFolder();
  const clock = virtualClock(start);
  const limits = { budgetDay: day, budgetMonth: month };
  const ledger = openLedger(dir, { command: 'thesis tail', profile: 'p' }, clock, undefined, {
    caps: () => limits,
  });
  // Load the code of budgets before the virtual clock runs.
  await ledger.budgets?.();
  const spend = new Spend({}, { acquire: async () => {} }, ledger);
  const served: Served = { everyMs, isOut: () => isOut(clock.now()), meter: { cu: 0 } };
  const remaining = () => given.remaining?.(clock.now()) ?? null;
  const { left } = spend;
  const minute = { least: 0, most: 20_000, reveals: 0 };
  const rows: string[] = [];
  const rates: number[] = [];
  const notices: TailNotice[] = [];
  const times: number[] = [];
  const stop = new AbortController();
  const tail = new Tail(
    {
      clock,
      random: () => 0.5,
      source: feed(clock, spend, served),
      connect: withMinutes(socket(clock, served), clock, (signal) =>
        spend.reserve({ endpoint: 'ws', bounds: minute }, signal),
      ),
      spent: () => spend.spent,
      output: {
        writer: {
          write: (batch) => {
            rows.push(...batch.map(({ id }) => id));
            rates.push(tail.status().rate);
            return true;
          },
          flush: async () => true,
        },
      },
      left,
      limits: async () => (await ledger.limits?.()) ?? '',
      key: async () => {
        const learn = left.request();
        learn({
          me: {
            plan: given.plan,
            usage: {
              unitsRemaining:
                given.units === undefined ? remaining() : given.units - served.meter.cu,
            },
          },
          budgets: ((await ledger.budgets?.()) ?? []).map((state) => ({
            left: leftIn(state),
            renewsAt: renewalOf(state.period, clock.now()),
          })),
        });
        return { live: null, ratePerMinute: 600 };
      },
    },
    {
      ...{
        start: { kind: 'now' },
        via: 'auto',
        lagMs: 10_000,
        feed: 'f',
        waitForBudget: true,
        timing: { limitsMs: HOUR },
        ...options,
      },
      on(notice) {
        notices.push(notice);
        times.push(clock.now());
        onNotice?.(notice, limits, stop, clock);
      },
    },
  );
  clock.sleep(runMs, stop.signal).then(
    () => stop.abort(new Error('time is up')),
    () => {},
  );
  const outcome = await tail.run(stop.signal).catch((error: unknown) => error);
  stop.abort();
  const days = await summarize(readLedger(dir), 'day');
  const newest = Math.floor(clock.now() / everyMs);
  const first = Math.floor(start / everyMs);
  const from = Number(rows[0]?.slice(1) ?? first);
  expect(from - first).toBeLessThan(2);
  const all = Array.from({ length: newest - from + 1 }, (_, index) => `p${from + index}`);
  return {
    outcome,
    rows,
    rates,
    notices,
    /** When a notice of this kind was first reported. */
    timeOf: (kind: TailNotice['kind']) => times[kinds(notices).indexOf(kind)] ?? Number.NaN,
    days,
    all,
    clock,
    charged: served.meter.cu,
    ran: spend.spent,
    unitsLeft: left.key?.units,
    spent: days.reduce((sum, { atMost }) => sum + atMost, 0),
  };
}

const kinds = (notices: readonly TailNotice[]) => notices.map(({ kind }) => kind);

test.each([5, 59, 61, 70, 119, 130, 150, 200, 305])(
  'after %s s of streaming, the run knows what it has cost and what is left',
  async (seconds) => {
    const { ran, charged, unitsLeft } = await run({
      ...{ units: 9_000_000, runMs: seconds * 1_000, everyMs: 10_000 },
      options: { via: 'ws' },
    });
    expect([ran.cu, ran.atMost, unitsLeft]).toEqual([charged, charged, 9_000_000 - charged]);
    expect(charged).toBeGreaterThan(20_000 * (Math.floor((seconds - 0.5) / 60) + 1));
  },
);

describe('a tail under a budget', () => {
  test('polls at an interval with which the budget lasts until midnight, and reports this', async () => {
    const { rows, notices, days, all, outcome } = await run({ day: 20_000, runMs: 36 * HOUR });
    expect(outcome).toMatchObject({ reason: 'stopped', gaps: [] });
    expect(notices[0]).toMatchObject({
      ...{ kind: 'start', mode: 'poll', why: 'budget' },
      stretched: { until: Date.UTC(2026, 0, 2) },
    });
    expect(notices.filter(({ kind }) => kind === 'stretched')).toMatchObject([
      { stretched: { until: Date.UTC(2026, 0, 3) } },
    ]);
    expect(kinds(notices)).not.toContain('budget');
    for (const { atMost } of days) {
      expect(atMost).toBeLessThanOrEqual(20_000);
      expect(atMost).toBeGreaterThan(18_000);
    }
    expect(rows).toEqual(all.slice(0, rows.length));
    expect(all.length - rows.length).toBeLessThan(4);
  });

  test.each([1_000, 10_000, 10 * MINUTE])(
    'states one rate at its start, that of the feed (a post every %i ms)',
    async (everyMs) => {
      const { notices } = await run({ day: 50_000, everyMs, runMs: MINUTE });
      const rates = notices.filter(({ kind }) => kind === 'start' || kind === 'stretched');
      expect(rates).toMatchObject([{ kind: 'start', mode: 'poll' }]);
      const { perMinute } = rates[0] as StartNotice;
      // What the budget of noon lasts for, unless the posts alone cost more.
      const posts = (200 * MINUTE) / everyMs / 20;
      expect(perMinute).toBeGreaterThan(posts);
      expect(perMinute).toBeLessThan(Math.max(posts * 1.5, (50_000 / 12 / 60) * 1.5));
    },
  );

  test('streams if the budget covers this until it renews, and polls the day after', async () => {
    const start = Date.UTC(2026, 0, 1, 23, 50);
    const { notices, days } = await run({ day: 300_000, start, runMs: 30 * MINUTE });
    expect(notices[0]).toMatchObject({ kind: 'start', mode: 'ws' });
    expect(notices.filter(({ kind }) => kind === 'connected')).toHaveLength(1);
    expect(notices.filter(({ kind }) => kind === 'fallback')).toMatchObject([
      { why: 'budget', stretched: { until: Date.UTC(2026, 0, 3) } },
    ]);
    expect(days[0]?.atMost).toBeGreaterThan(200_000);
    for (const { atMost } of days) expect(atMost).toBeLessThanOrEqual(300_000);
  });

  test('streams again on a day whose budget covers streaming', async () => {
    const raised: Given['onNotice'] = (notice, limits) => {
      if (notice.kind === 'stretched' || notice.kind === 'start') limits.budgetDay = 31_000_000;
    };
    const start = Date.UTC(2026, 0, 1, 23, 50);
    const { notices } = await run({ day: 50_000, start, runMs: 20 * MINUTE, onNotice: raised });
    expect(notices[0]).toMatchObject({ kind: 'start', mode: 'poll', why: 'budget' });
    expect(kinds(notices)).toContain('streamAgain');
    expect(kinds(notices)).toContain('connected');
  });

  test('falls back to polls when another run has spent what the next minute needs', async () => {
    const start = Date.UTC(2026, 0, 1, 23);
    const lowered: Given['onNotice'] = (notice, limits) => {
      if (notice.kind === 'connected') limits.budgetDay = 150_000;
    };
    const { notices, outcome, spent } = await run({
      day: 3_000_000,
      start,
      runMs: 10 * MINUTE,
      onNotice: lowered,
    });
    expect(outcome).toMatchObject({ reason: 'stopped' });
    expect(notices.filter(({ kind }) => kind === 'fallback')).toMatchObject([{ why: 'budget' }]);
    expect(kinds(notices)).not.toContain('budget');
    expect(spent).toBeLessThanOrEqual(150_000);
  });

  test('waits until the budget renews, reports this once, and misses no post', async () => {
    const { rows, rates, notices, days, all } = await run({
      ...{ day: 4_000, runMs: 30 * HOUR },
      options: { via: 'poll', lagMs: 10 * MINUTE },
    });
    const waits = notices.filter(({ kind }) => kind === 'budget' || kind === 'renewed');
    expect(kinds(waits)).toEqual(
      ['budget', 'renewed', 'budget', 'renewed', 'budget'].slice(0, waits.length),
    );
    expect(waits[0]).toMatchObject({
      until: Date.UTC(2026, 0, 2),
      reason: expect.stringContaining(
        'only 0 CU of the day budget of profile "p" (4,000 CU) remain',
      ),
    });
    for (const { atMost } of days) expect(atMost).toBeLessThanOrEqual(4_000);
    expect(rows).toEqual(all.slice(0, rows.length));
    expect(rows.length).toBeGreaterThan(all.length - 6 * 24);
    // The posts of the whole wait are read at once, but the feed has as many per second as before.
    expect(Math.max(...rates)).toBeLessThan(2 / 600);
  });

  test('a budget that is raised meanwhile ends the wait within ten seconds', async () => {
    let raisedAt = 0;
    const { rows, all, timeOf } = await run({
      ...{ day: 200, runMs: 30 * MINUTE },
      options: { via: 'poll', lagMs: MINUTE, timing: {} },
      onNotice(notice, limits, stop, clock) {
        if (notice.kind !== 'budget') return;
        void clock.sleep(17 * MINUTE, stop.signal).then(() => {
          raisedAt = clock.now();
          limits.budgetDay = 1_000_000;
        });
      },
    });
    expect(timeOf('renewed') - raisedAt).toBeLessThan(10_000);
    expect(all.length - rows.length).toBeLessThan(3);
  });

  test('a budget that is raised meanwhile shortens the interval within ten seconds', async () => {
    let raisedAt = 0;
    const { timeOf, notices } = await run({
      ...{ day: 3_000, runMs: 50 * MINUTE },
      options: { timing: {} },
      onNotice(notice, limits, stop, clock) {
        if (notice.kind !== 'start') return;
        expect(notice.stretched?.everyMs).toBeGreaterThan(30 * MINUTE);
        void clock.sleep(47 * MINUTE, stop.signal).then(() => {
          raisedAt = clock.now();
          limits.budgetDay = 30_000_000;
        });
      },
    });
    expect(timeOf('streamAgain') - raisedAt).toBeLessThan(10_000);
    expect(kinds(notices)).not.toContain('budget');
  });

  test('waits with --via ws too, and ends without --wait-for-budget', async () => {
    const start = Date.UTC(2026, 0, 1, 23, 50);
    const given = { day: 100_000, start, runMs: 15 * MINUTE };
    const waiting = await run({ ...given, options: { via: 'ws' } });
    expect(waiting.outcome).toMatchObject({ reason: 'stopped' });
    expect(waiting.notices.filter(({ kind }) => kind === 'streamAgain')).toHaveLength(1);
    for (const { atMost } of waiting.days) expect(atMost).toBeLessThanOrEqual(100_000);
    const ending = await run({ ...given, options: { via: 'ws', waitForBudget: false } });
    expect(ending.outcome).toMatchObject({ kind: 'limit', code: 'BUDGET' });
  });
});

describe('a tail over the end of a month', () => {
  const march = Date.UTC(2026, 2, 1);
  const start = march - 10 * MINUTE;
  const options = { socketShare: 0.1 };
  const modes = (notices: readonly TailNotice[]) =>
    notices.flatMap((notice) =>
      notice.kind === 'fallback' || notice.kind === 'streamAgain'
        ? [`${notice.kind} ${notice.why}`]
        : notice.kind === 'start'
          ? [`start ${notice.mode}`]
          : [],
    );

  test('streams again with the share of the new allowance, and only with this share', async () => {
    const remaining = (now: number) => (now < march ? 500_000 : 1_000_000);
    const { notices, days, outcome } = await run({ start, options, remaining, runMs: HOUR / 2 });
    expect(outcome).toMatchObject({ reason: 'stopped', gaps: [] });
    expect(modes(notices)).toEqual([
      'start ws',
      'fallback units',
      'streamAgain units',
      'fallback units',
    ]);
    const [before = 0, after = 0] = days.map(({ atMost }) => atMost);
    expect(before).toBeGreaterThan(40_000);
    expect(before).toBeLessThan(50_000 + 60 * 1_200 + 5_000);
    expect(after).toBeGreaterThan(100_000);
    expect(after).toBeLessThan(100_000 + 60 * 1_200 + 5_000);
  });

  const [early, late] = [march - 7 * MINUTE, march + 10 * MINUTE];
  const share = ['start ws', 'fallback units'];
  test.each<
    [string, number, readonly [until: number, before: number, after: number], readonly string[]]
  >([
    [
      'streams once it has units',
      HOUR / 2,
      [march, 10_000, 1e6],
      ['start poll', 'streamAgain units'],
    ],
    ['waits for the new allowance', HOUR / 3 - MINUTE, [late, 500_000, 1_000_000], share],
    ['streams when it appears', HOUR, [late, 500_000, 1e6], [...share, 'streamAgain units']],
    ['polls on after a top-up within the month', 9 * MINUTE, [early, 500_000, 2_000_000], share],
  ])('%s', async (_, runMs, [until, before, after], expected) => {
    const remaining = (now: number) => (now < until ? before : after);
    const { notices } = await run({ start, options, remaining, runMs });
    const found = modes(notices);
    // Later, the share of the new allowance is used up too.
    expect(found.slice(0, expected.length)).toEqual(expected);
    if (expected === share) expect(found).toEqual(share);
  });

  test('polls on if it was asked to poll', async () => {
    const remaining = (now: number) => (now < early ? 500_000 : 2_000_000);
    const polling = await run({ start, remaining, runMs: HOUR / 2, options: { via: 'poll' } });
    expect(modes(polling.notices)).toEqual(['start poll']);
  });
});

describe('a tail whose key has no units left', () => {
  const march = Date.UTC(2026, 2, 1);
  const outAt = march - 4 * HOUR;
  const isOut = (now: number) => now >= outAt && now < march;
  const start = outAt - 4 * HOUR;
  const polls = { via: 'poll', lagMs: 10 * MINUTE } as const;

  test('waits until the month ends, reports this once, and misses no post', async () => {
    const { rows, notices, all, outcome } = await run({
      start,
      isOut,
      runMs: 9 * HOUR,
      options: polls,
    });
    expect(outcome).toMatchObject({ reason: 'stopped', gaps: [] });
    expect(notices.filter(({ kind }) => kind === 'budget')).toEqual([
      { kind: 'budget', until: march, reason: 'out of credits' },
    ]);
    expect(kinds(notices)).toContain('renewed');
    expect(rows).toEqual(all.slice(0, rows.length));
    expect(all.length - rows.length).toBeLessThan(3);
  });

  test.each(['poll', 'ws'] as const)(
    'ends (--via %s) if the units were granted once: there is nothing to wait for',
    async (via) => {
      const given = { start: outAt - 10 * MINUTE, isOut, runMs: 5 * HOUR, plan: 'Explore' };
      const { outcome, notices } = await run({ ...given, options: { via, lagMs: MINUTE } });
      expect(outcome).toMatchObject({ kind: 'quota' });
      expect(kinds(notices)).not.toContain('budget');
    },
  );

  test('notices a top-up within ten minutes', async () => {
    const topUp = outAt + 2 * HOUR;
    const { rows, all } = await run({
      ...{ start, runMs: 6 * HOUR + 20 * MINUTE, options: polls },
      isOut: (now) => isOut(now) && now < topUp,
    });
    expect(all.length - rows.length).toBeLessThan(3);
  });

  test.each(['auto', 'ws'] as const)(
    'opens no socket (--via %s) until the month ends',
    async (via) => {
      const { notices, outcome } = await run({
        ...{ start: outAt - 10 * MINUTE, isOut, runMs: 5 * HOUR, options: { via } },
      });
      expect(outcome).toMatchObject({ reason: 'stopped', gaps: [] });
      const told = kinds(notices).filter((kind) =>
        /^(?:connected|fallback|budget|streamAgain)$/.test(kind),
      );
      expect(told).toEqual(['connected', 'fallback', 'budget', 'streamAgain', 'connected']);
    },
  );
});

const DAYS = repeats('BUDGET_DAYS', 2, 60);

test(`a tail runs for ${DAYS} days within its budgets, without an end and without a gap`, async () => {
  const { outcome, rows, notices, all, spent, days } = await run({
    ...{ day: 10_000, month: 150_000, runMs: DAYS * DAY, everyMs: HOUR },
    options: { timing: { keyMs: HOUR, limitsMs: HOUR } },
  });
  expect(outcome).toMatchObject({ reason: 'stopped', gaps: [] });
  expect(rows).toEqual(all.slice(0, rows.length));
  expect(all.length - rows.length).toBeLessThan(3);
  expect(days).toHaveLength(DAYS + 1);
  expect(spent).toBeLessThanOrEqual(3 * 150_000);
  expect(kinds(notices)).not.toContain('gap');
});
