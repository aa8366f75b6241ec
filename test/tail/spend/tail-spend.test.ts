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
  allowanceAtStart: null,
  socketShare: 0.1,
  socketSpent: 0,
  shortSessions: 0,
};
const against = (standing: Partial<SpendState>) => reasonToPoll({ ...free, ...standing });

describe('the socket is the way', () => {
  test.each<[string, Partial<SpendState>]>([
    ['nothing speaks against it', {}],
    ['it is not known what the plan has', { live: null }],
    ['the ceiling holds a minute, the one until an end is noticed, and the walks', { ceilingLeft: 41_000 }],
    ['what is left holds a minute and the walks', { allowanceLeft: 21_000 }],
    ['its share holds another minute', { allowanceAtStart: 400_000, socketSpent: 20_000 }],
    ['it broke twice only', { shortSessions: 2 }],
    ['it was asked for, and can be paid', { via: 'ws', ceilingLeft: 41_000 }],
    [
      'it was asked for, whatever else speaks against it',
      { via: 'ws', live: false, allowanceLeft: 0, shortSessions: 9 },
    ],
    ['it was asked for, though its share is used', { via: 'ws', allowanceAtStart: 0 }],
  ])('where %s', (_, standing) => {
    expect(against(standing)).toBeUndefined();
  });
});

describe('polls are the way', () => {
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
  ])('for want of: %s %j', (why, standing) => {
    expect(against(standing)).toBe(why);
  });
});

interface Given {
  readonly ceiling?: number;
  readonly key?: (() => Promise<KeyFacts>) | undefined;
  readonly rate?: number;
  readonly lagMs?: number;
}

function pursed({ ceiling, key, rate: perSecond = 0, lagMs = 10_000 }: Given = {}) {
  let now = 1_000;
  let rings = 0;
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
  const purse = createTailSpend({
    world: { clock: { now: () => now, mono: () => now, sleep: async () => {} }, key: ask },
    ...{ timing, meter, rate, ceiling, lagMs },
    price: { step: 20, cu: 200 },
    ...{ via: 'auto', hasSocket: true, socketShare: 0.1 },
    wake: () => {
      rings++;
    },
    signal: controller.signal,
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { purse, meter, pass, controller, asked: () => asked, rings: () => rings };
}
const facts = (given: Partial<KeyFacts> = {}): KeyFacts => ({
  ...{ remaining: 1_000_000, live: true, ratePerMinute: 600 },
  ...given,
});
const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a purse', () => {
  test('affords anything without a ceiling, and with one what is left of it at most', () => {
    expect(pursed().purse.afford(1e12)).toBe(true);
    const { purse, meter } = pursed({ ceiling: 1_000 });
    expect([purse.afford(1_000), purse.afford(1_001)]).toEqual([true, false]);
    meter.paid(200);
    meter.lost(200);
    expect([purse.afford(600), purse.afford(601)]).toEqual([true, false]);
    meter.paid(600);
    expect([purse.afford(0), purse.afford(1)]).toEqual([true, false]);
  });

  test('asks the key what is left at once, and throws where the key is not known', async () => {
    const unknown = new Failure('auth', 'Who are you?', { code: 'UNAUTHORIZED' });
    const { purse } = pursed({ key: () => Promise.reject(unknown) });
    await expect(purse.first(soon)).rejects.toBe(unknown);
  });

  test.each([new Failure('network', 'no', { code: 'X' }), new Error('no')])(
    'begins without the answer where that fails otherwise: %s',
    async (error) => {
      const { purse } = pursed({ key: () => Promise.reject(error) });
      await purse.first(soon);
      expect(purse.against(0)).toBeUndefined();
      expect(purse.pollMs).toBe(10_000);
    },
  );

  test('does not wait for an answer once the run is stopped, nor where there is none to ask', async () => {
    const { purse, controller } = pursed({ key: () => new Promise(() => {}) });
    controller.abort();
    await purse.first(soon);
    const none = pursed();
    await none.purse.first(soon);
    expect(none.purse.due).toBe(Number.POSITIVE_INFINITY);
    none.purse.step('ws');
    await none.purse.settled();
  });

  test('asks again after a minute of the socket, or ten of polls', async () => {
    const { purse, pass, asked, rings } = pursed({ key: async () => facts() });
    await purse.first(soon);
    expect([asked(), rings()]).toEqual([1, 1]);
    expect(purse.due).toBe(1_000 + timing.keyMs);
    pass(timing.keyMs - 1);
    purse.step('ws');
    expect(asked()).toBe(1);
    pass(1);
    purse.step('poll');
    expect(asked()).toBe(2);
    expect(purse.due).toBe(1_000 + 11 * timing.keyMs);
    await purse.settled();
    pass(timing.keyMs);
    purse.step('poll');
    expect(asked()).toBe(2);
    pass(9 * timing.keyMs);
    purse.step('poll');
    expect(asked()).toBe(3);
  });

  test('asks one thing at a time', async () => {
    const { purse, pass, asked } = pursed({ key: () => new Promise(() => {}) });
    purse.step('ws');
    pass(10 * timing.keyMs);
    purse.step('ws');
    expect(asked()).toBe(1);
  });

  test('counts the share of the socket from what was left at the start', async () => {
    let remaining = 400_000;
    const { purse, meter, pass } = pursed({ key: async () => facts({ remaining }) });
    await purse.first(soon);
    expect(purse.against(0)).toBeUndefined();
    expect(purse.against(3)).toBe('unstable');
    meter.opened();
    expect(purse.against(0)).toBeUndefined();
    remaining = 10_000_000;
    pass(timing.keyMs);
    purse.step('ws');
    await purse.settled();
    purse.step('ws');
    // Two minutes have begun, and a third would be more than a tenth.
    expect(purse.against(0)).toBe('share');
  });

  test('takes what is left from the last answer', async () => {
    let remaining: number | null = null;
    const { purse, pass } = pursed({ key: async () => facts({ remaining }) });
    await purse.first(soon);
    expect(purse.against(0)).toBeUndefined();
    remaining = 20_999;
    pass(timing.keyMs);
    purse.step('ws');
    await purse.settled();
    purse.step('ws');
    expect(purse.against(0)).toBe('allowance');
  });

  test('knows the plan, and holds the ceiling against the socket', async () => {
    const poor = pursed({ key: async () => facts({ live: false }) });
    await poor.purse.first(soon);
    expect(poor.purse.against(0)).toBe('plan');
    const { purse, meter } = pursed({ ceiling: 41_000 });
    expect(purse.against(0)).toBeUndefined();
    meter.paid(1);
    expect(purse.against(0)).toBe('ceiling');
  });

  test('polls at the lag aimed at, at what fills a page, or at what the key allows', async () => {
    expect(pursed().purse.pollMs).toBe(10_000);
    expect(pursed({ rate: 1, lagMs: 30_000 }).purse.pollMs).toBeCloseTo(19_000);
    const { purse } = pursed({ lagMs: 500, key: async () => facts({ ratePerMinute: 60 }) });
    expect(purse.pollMs).toBe(1_000);
    await purse.first(soon);
    expect(purse.pollMs).toBe(2_000);
  });

  test('says what a minute of each way costs', () => {
    const { purse } = pursed();
    expect(purse.perMinute('ws')).toBe(20_000);
    expect(purse.perMinute('poll')).toBe(1_200);
  });
});
