import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cu } from '../../../src/contract/limits.ts';
import {
  arePollsCheaper,
  LONGEST_POLL_MS,
  planSpend,
  type SpendView,
} from '../../../src/tail/spend/stream-or-poll.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const HOUR = 3_600_000;
const view: SpendView = {
  ...{ via: 'auto', hasSocket: true, live: true, lagMs: 10_000, rate: 0, ratePerMinute: null },
  ...{
    step: 20,
    stepCu: 200,
    auditMs: 60_000,
    latenessMs: 60_000,
    limitLeft: null,
    allowanceLeft: null,
  },
  ...{
    budgets: [],
    reserved: 0,
    shareLeft: null,
    shortSessions: 0,
    now: NOON,
    runLeftMs: Infinity,
  },
  sincePollMs: 0,
  cheapest: false,
};
const whyOf = (change: Partial<SpendView>) => planSpend({ ...view, ...change }).why;
const pollOf = (change: Partial<SpendView>) => planSpend({ ...view, via: 'poll', ...change });

describe('a tail streams', () => {
  test('if nothing speaks against it', () => expect(whyOf({})).toBeUndefined());

  test.each<[string | undefined, Partial<SpendView>]>([
    ['asked', { hasSocket: false, via: 'ws' }],
    ['asked', { via: 'poll' }],
    ['ceiling', { limitLeft: 2 * cu.socketMinute - 1, via: 'ws' }],
    [undefined, { limitLeft: 1_000, reserved: 2 * cu.socketMinute }],
    ['plan', { live: false }],
    [undefined, { live: false, via: 'ws' }],
    ['units', { allowanceLeft: 2 * cu.socketMinute - 1 }],
    [undefined, { allowanceLeft: 2 * cu.socketMinute - 1, via: 'ws' }],
    ['units', { shareLeft: cu.socketMinute - 1 }],
    ['socket', { shortSessions: 3 }],
    ['cheaper', { cheapest: true }],
    ['cheaper', { cheapest: true, lagMs: 600, ratePerMinute: 600 }],
    [undefined, { cheapest: true, lagMs: 590, ratePerMinute: 600 }],
    [undefined, { cheapest: true, ratePerMinute: 11 }],
    [undefined, { cheapest: true, via: 'ws' }],
    ['budget', { budgets: [{ left: 700_000, renewsAt: NOON + HOUR }] }],
    [undefined, { budgets: [{ left: 700_000, renewsAt: NOON + HOUR }], runLeftMs: HOUR / 4 }],
    [undefined, { budgets: [{ left: 700_000, renewsAt: NOON + HOUR }], via: 'ws' }],
  ])('not because of %s: %j', (why, change) => expect(whyOf(change)).toBe(why));
});

/** The price of a minute's posts, which come so often a second. */
const priceOf = (rate: number): number => rate * 60 * 10;

describe('polls', () => {
  test('of a lag that is planned with polls are polls, whatever the feed and the key', () => {
    const rate = fc.double({ min: 0, max: 500, noNaN: true });
    const lagMs = fc.integer({ min: 100, max: 600_000 });
    const ratePerMinute = fc.constantFrom(60, 150, 300, 600, 1_200);
    fc.assert(
      fc.property(rate, lagMs, ratePerMinute, (posts, lag, limit) => {
        fc.pre(arePollsCheaper(lag, view.stepCu));
        const given = { rate: posts, lagMs: lag, ratePerMinute: limit, latenessMs: 120_000 };
        expect(whyOf({ ...given, cheapest: true })).toBe('cheaper');
      }),
    );
  });

  test('are chosen as cheaper by the lag, whatever rate a burst suggests, and then cost no more than a socket and the posts', () => {
    const rate = fc.double({ min: 0, max: 500, noNaN: true });
    const lagMs = fc.integer({ min: 100, max: 600_000 });
    const auditMs = fc.integer({ min: 30_000, max: HOUR });
    fc.assert(
      fc.property(rate, lagMs, auditMs, (posts, lag, audit) => {
        const given = { cheapest: true, lagMs: lag, auditMs: audit, ratePerMinute: 600_000 };
        const { why, perMinute } = planSpend({ ...view, ...given, rate: posts });
        expect(why).toBe(whyOf({ ...given, rate: 0 }));
        const most = perMinute.ws + priceOf(posts);
        if (why === 'cheaper') expect(perMinute.poll).toBeLessThan(most + 1);
      }),
      { examples: [[80, 200, 60_000]] },
    );
  });

  test('come at the requested lag, but leave half of the rate limit to other processes', () => {
    expect(pollOf({}).pollMs).toBe(10_000);
    expect(pollOf({ lagMs: 1, ratePerMinute: 60 }).pollMs).toBe(2_000);
    expect(pollOf({ lagMs: 1 }).pollMs).toBe(1_000);
  });

  test('come less often if a budget would not last, at most once an hour', () => {
    const budgets = [{ left: 72_000, renewsAt: NOON + HOUR }];
    const plan = planSpend({ ...view, budgets });
    expect(plan).toMatchObject({ why: 'budget', pollMs: 10_000, until: undefined });
    const half = planSpend({ ...view, budgets: [{ left: 36_000, renewsAt: NOON + HOUR }] });
    expect(half).toMatchObject({ pollMs: 20_000, until: NOON + HOUR });
    const none = planSpend({
      ...view,
      rate: 100,
      budgets: [{ left: 5, renewsAt: NOON + 10 * HOUR }],
    });
    expect(none.pollMs).toBe(LONGEST_POLL_MS);
    expect(pollOf({ budgets: [{ left: 5, renewsAt: NOON + HOUR }] }).pollMs).toBe(10_000);
  });

  test('last with what they cost, the walks that verify a busy feed included', () => {
    const rate = fc.integer({ min: 0, max: 50 }).map((tenths) => tenths / 10);
    const left = fc.integer({ min: 1, max: 100_000 });
    const auditMs = fc.constantFrom(60_000, 240_000);
    fc.assert(
      fc.property(rate, left, auditMs, (posts, units, audit) => {
        const budgets = [{ left: units, renewsAt: NOON + HOUR }];
        const plan = planSpend({ ...view, rate: posts, auditMs: audit, budgets });
        fc.pre(plan.pollMs < LONGEST_POLL_MS);
        expect(plan.perMinute.poll * 60).toBeLessThan(units + 1);
      }),
    );
  });

  test('cost one step while it contains all new posts and one known post', () => {
    // A deep walk pays for each post once, however seldom it comes.
    const polls = (rate: number) => pollOf({ rate, auditMs: 1e12 }).perMinute.poll - priceOf(rate);
    expect(polls(0.2)).toBeCloseTo(6 * 200, 0);
    expect(polls(1.9)).toBeCloseTo(6 * 200, 0);
    expect(polls(1.91)).toBeCloseTo(6 * 400, 0);
  });

  test('never cost less than the price of their posts, and streaming includes the walks that verify', () => {
    const rate = fc.double({ min: 0, max: 100, noNaN: true });
    const lagMs = fc.integer({ min: 1_000, max: 600_000 });
    fc.assert(
      fc.property(rate, lagMs, (posts, lag) => {
        const { perMinute } = pollOf({ rate: posts, lagMs: lag });
        expect(perMinute.poll).toBeGreaterThanOrEqual(priceOf(posts));
        expect(perMinute.ws).toBeGreaterThan(cu.socketMinute);
      }),
    );
  });
});
