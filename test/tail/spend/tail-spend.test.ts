import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { KeyFacts } from '../../../src/tail/ports.ts';
import { createCostMeter } from '../../../src/tail/spend/cost-meter.ts';
import { createRate } from '../../../src/tail/spend/pace.ts';
import { reasonToPoll, type SpendState } from '../../../src/tail/spend/socket-share.ts';
import { createTailSpend } from '../../../src/tail/spend/tail-spend.ts';
import { timing } from '../../../src/tail/timing.ts';

const free: SpendState = {
  via: 'auto',
  hasSocket: true,
  live: true,
  ceilingLeft: null,
  allowanceLeft: null,
  budgetsCover: true,
  allowanceAtStart: null,
  socketShare: 0.1,
  socketSpent: 0,
  shortSessions: 0,
};
const pollReason = (state: Partial<SpendState>) => reasonToPoll({ ...free, ...state });

describe('auto mode uses the socket', () => {
  test.each<[string, Partial<SpendState>]>([
    ['nothing prevents it', {}],
    ['the plan is unknown', { live: null }],
    ['the spending limit covers two minutes and the walks', { ceilingLeft: 41_000 }],
    ['the allowance covers a minute and the walks', { allowanceLeft: 21_000 }],
    ['its share covers another minute', { allowanceAtStart: 400_000, socketSpent: 20_000 }],
    ['it broke only twice', { shortSessions: 2 }],
    ['--via ws is affordable', { via: 'ws', ceilingLeft: 41_000 }],
    ['--via ws overrides every other reason', { via: 'ws', live: false, allowanceLeft: 0, shortSessions: 9 }],
    ['--via ws overrides a used share', { via: 'ws', allowanceAtStart: 0 }],
  ])('if %s', (_, state) => {
    expect(pollReason(state)).toBeUndefined();
  });
});

describe('auto mode polls', () => {
  test.each<[string, Partial<SpendState>]>([
    ['noSocket', { hasSocket: false, via: 'poll' }],
    ['noSocket', { hasSocket: false, via: 'ws' }],
    ['asked', { via: 'poll', ceilingLeft: 0 }],
    ['ceiling', { ceilingLeft: 40_999, live: false }],
    ['ceiling', { via: 'ws', ceilingLeft: 40_999 }],
    ['plan', { live: false, allowanceLeft: 0 }],
    ['allowance', { allowanceLeft: 20_999, allowanceAtStart: 0 }],
    ['share', { allowanceAtStart: 399_999, socketSpent: 20_000, shortSessions: 3 }],
    ['share', { allowanceAtStart: 0 }],
    ['unstable', { shortSessions: 3 }],
    ['unstable', { shortSessions: 4, allowanceAtStart: 1e9 }],
  ])('because of %s: %j', (why, state) => {
    expect(pollReason(state)).toBe(why);
  });
});

interface Given {
  readonly ceiling?: number | (() => number);
  readonly raise?: (cu: number, spent: number) => Promise<boolean>;
  readonly key?: (() => Promise<KeyFacts>) | undefined;
  readonly rate?: number;
  readonly lagMs?: number;
}

function createSpend({ ceiling, raise, key, rate: perSecond = 0, lagMs = 10_000 }: Given = {}) {
  let now = 1_000;
  let wakes = 0;
  const meter = createCostMeter(() => now);
  const rate = createRate();
  if (perSecond > 0) rate.add(perSecond * 1_000, 1_000_000);
  const controller = new AbortController();
  let asked = 0;
  const ask =
    key &&
    (() => {
      asked++;
      return key();
    });
  const spend = createTailSpend({
    world: { clock: { now: () => now, mono: () => now, sleep: async () => {} }, key: ask },
    ...{ timing, meter, rate, ceiling, raise, lagMs },
    price: { step: 20, cu: 200 },
    ...{ via: 'auto', hasSocket: true, socketShare: 0.1, durationMs: undefined },
    wake: () => {
      wakes++;
    },
    signal: controller.signal,
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { spend, meter, pass, controller, asked: () => asked, wakes: () => wakes };
}
const facts = (given: Partial<KeyFacts> = {}): KeyFacts => ({
  ...{ remaining: 1_000_000, live: true, ratePerMinute: 600 },
  ...given,
});
const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the spending of a tail', () => {
  test('allows any cost without a limit, and otherwise at most the rest of the limit', () => {
    expect(createSpend().spend.afford(1e12)).toBe(true);
    const { spend, meter } = createSpend({ ceiling: 1_000 });
    expect([spend.afford(1_000), spend.afford(1_001)]).toEqual([true, false]);
    meter.paid(200);
    meter.lost(200);
    expect([spend.afford(600), spend.afford(601)]).toEqual([true, false]);
    meter.paid(600);
    expect([spend.afford(0), spend.afford(1)]).toEqual([true, false]);
  });

  test('asks to raise the limit until it covers the cost, or the user declines', async () => {
    let limit = 1_000;
    const asked: (readonly number[])[] = [];
    const raise = async (cu: number, spent: number) => {
      asked.push([cu, spent]);
      limit *= 2;
      return asked.length < 4;
    };
    const { spend, meter } = createSpend({ ceiling: () => limit, raise });
    meter.paid(900);
    expect(spend.afford(100)).toBe(true);
    expect(await spend.afford(2_000)).toBe(true);
    expect([asked, limit]).toEqual([
      [
        [2_000, 900],
        [2_000, 900],
      ],
      4_000,
    ]);
    expect([await spend.afford(20_000), asked.length]).toEqual([false, 4]);
  });

  test('asks once to raise the limit for more streaming, and returns the answer once', async () => {
    let limit = 10_000;
    let asked = 0;
    const raise = async () => {
      asked++;
      limit = 100_000;
      return true;
    };
    const { spend, wakes } = createSpend({ ceiling: () => limit, raise });
    expect([spend.against(0), spend.askToStream(), spend.askToStream()]).toEqual(['ceiling', true, true]);
    expect(spend.takeAnswer()).toBeUndefined();
    await soon();
    expect([spend.takeAnswer(), spend.takeAnswer(), asked, wakes()]).toEqual([true, undefined, 1, 1]);
    expect(spend.against(0)).toBeUndefined();
    expect(createSpend({ ceiling: 10_000 }).spend.askToStream()).toBe(false);
  });

  test('requests the allowance at the start, and fails for an unknown key', async () => {
    const unknown = new Failure('auth', 'Invalid key.', { code: 'UNAUTHORIZED' });
    const { spend } = createSpend({ key: () => Promise.reject(unknown) });
    await expect(spend.first(soon)).rejects.toBe(unknown);
  });

  test.each([new Failure('network', 'no', { code: 'X' }), new Error('no')])(
    'starts without the allowance after any other failure: %s',
    async (error) => {
      const { spend } = createSpend({ key: () => Promise.reject(error) });
      await spend.first(soon);
      expect(spend.against(0)).toBeUndefined();
      expect(spend.pollMs).toBe(10_000);
    },
  );

  test('does not wait for the allowance if the run was stopped or if there is no key', async () => {
    const { spend, controller } = createSpend({ key: () => new Promise(() => {}) });
    controller.abort();
    await spend.first(soon);
    const none = createSpend();
    await none.spend.first(soon);
    expect(none.spend.due).toBe(Number.POSITIVE_INFINITY);
    none.spend.step('ws');
    await none.spend.settled();
  });

  test('requests the allowance again after one minute of streaming or ten minutes of polling', async () => {
    const { spend, pass, asked, wakes } = createSpend({ key: async () => facts() });
    await spend.first(soon);
    expect([asked(), wakes()]).toEqual([1, 1]);
    expect(spend.due).toBe(1_000 + timing.keyMs);
    pass(timing.keyMs - 1);
    spend.step('ws');
    expect(asked()).toBe(1);
    pass(1);
    spend.step('poll');
    expect(asked()).toBe(2);
    expect(spend.due).toBe(1_000 + 11 * timing.keyMs);
    await spend.settled();
    pass(timing.keyMs);
    spend.step('poll');
    expect(asked()).toBe(2);
    pass(9 * timing.keyMs);
    spend.step('poll');
    expect(asked()).toBe(3);
  });

  test('has at most one request in progress', async () => {
    const { spend, pass, asked } = createSpend({ key: () => new Promise(() => {}) });
    spend.step('ws');
    pass(10 * timing.keyMs);
    spend.step('ws');
    expect(asked()).toBe(1);
  });

  test('relates the share of the socket to the allowance at the start', async () => {
    let remaining = 400_000;
    const { spend, meter, pass } = createSpend({ key: async () => facts({ remaining }) });
    await spend.first(soon);
    expect(spend.against(0)).toBeUndefined();
    expect(spend.against(3)).toBe('unstable');
    meter.opened();
    expect(spend.against(0)).toBeUndefined();
    remaining = 10_000_000;
    pass(timing.keyMs);
    spend.step('ws');
    await spend.settled();
    spend.step('ws');
    // Two minutes have started; a third one would exceed a tenth of the allowance.
    expect(spend.against(0)).toBe('share');
  });

  test('uses the latest allowance', async () => {
    let remaining: number | null = null;
    const { spend, pass } = createSpend({ key: async () => facts({ remaining }) });
    await spend.first(soon);
    expect(spend.against(0)).toBeUndefined();
    remaining = 20_999;
    pass(timing.keyMs);
    spend.step('ws');
    await spend.settled();
    spend.step('ws');
    expect(spend.against(0)).toBe('allowance');
  });

  test('polls if the plan has no socket or the spending limit is too low', async () => {
    const poor = createSpend({ key: async () => facts({ live: false }) });
    await poor.spend.first(soon);
    expect(poor.spend.against(0)).toBe('plan');
    const { spend, meter } = createSpend({ ceiling: 41_000 });
    expect(spend.against(0)).toBeUndefined();
    meter.paid(1);
    expect(spend.against(0)).toBe('ceiling');
  });

  test('polls at the target lag, when a page is full, or as often as the key allows', async () => {
    expect(createSpend().spend.pollMs).toBe(10_000);
    expect(createSpend({ rate: 1, lagMs: 30_000 }).spend.pollMs).toBeCloseTo(19_000);
    const { spend } = createSpend({ lagMs: 500, key: async () => facts({ ratePerMinute: 60 }) });
    expect(spend.pollMs).toBe(1_000);
    await spend.first(soon);
    expect(spend.pollMs).toBe(2_000);
  });

  test('reports the cost per minute of both modes', () => {
    const { spend } = createSpend();
    expect(spend.perMinute('ws')).toBe(20_000);
    expect(spend.perMinute('poll')).toBe(1_200);
  });
});
