import { describe, expect, it } from 'vitest';
import { checkDays, unitsWanted } from '../../../src/cli/commands/me.ts';
import { forecast } from '../../../src/core/account.ts';

const DAY = 86_400_000;
/** Ten of thirty days of the month are over. */
const now = Date.UTC(2026, 3, 11);
const key = (unitsUsed: number, unitsRemaining: number, entitlement = {}) => ({
  usage: { unitsUsed, unitsRemaining, additionalUnits: 0 },
  entitlement: { monthlyUnits: unitsUsed + unitsRemaining, ...entitlement },
});

describe('trdr me --min-units', () => {
  it('accepts a share of the monthly grant', () => {
    expect(unitsWanted(key(900, 100), { share: 0.1 })).toBe(100);
    expect(unitsWanted(key(900, 100), 5)).toBe(5);
    expect(unitsWanted(key(900, 100), undefined)).toBeUndefined();
    expect(unitsWanted(key(900, 100, { unmetered: true }), { share: 0.1 })).toBe(0);
  });

  it('rejects a share if the grant is not known', () => {
    expect(() => unitsWanted({ usage: {} }, { share: 0.1 })).toThrow(
      expect.objectContaining({
        kind: 'answer',
        message: expect.stringContaining('the CU that the key gets each month'),
      }),
    );
  });
});

describe('trdr me --min-days', () => {
  const check = (me: ReturnType<typeof key>, days: number) => checkDays(me, forecast(me, now), now, days);

  it('fails if the units run out sooner at the rate of this month', () => {
    // With 100 units a day and 200 units left, the units last two days.
    expect(() => check(key(1_000, 200), 3)).toThrow(
      expect.objectContaining({
        kind: 'limit',
        code: 'DAYS_LOW',
        message: expect.stringContaining('2.0 days'),
      }),
    );
    expect(() => check(key(1_000, 200), 2)).not.toThrow();
  });

  it('passes if the units last until the month ends, however soon that is', () => {
    expect(() => check(key(1_000, 2_000), 365)).not.toThrow();
    const late = Date.UTC(2026, 3, 30);
    const me = key(2_900, 200);
    expect(() => checkDays(me, forecast(me, late), late, 3)).not.toThrow();
  });

  it('passes without a cap, and in the first hour of a month', () => {
    expect(() => check(key(1_000, 200, { unmetered: true }), 3)).not.toThrow();
    const me = key(10, 5);
    const early = Date.UTC(2026, 3, 1) + 60_000;
    expect(() => checkDays(me, forecast(me, early), early, 30)).not.toThrow();
  });

  it('fails if the units used or left are not known', () => {
    const me = { usage: { unitsUsed: 10 } };
    expect(() => checkDays(me, forecast(me, now), now, 3)).toThrow(
      expect.objectContaining({ kind: 'answer' }),
    );
    const other = { usage: { unitsRemaining: 10 } };
    expect(() => checkDays(other, forecast(other, now + DAY), now, 3)).toThrow(
      expect.objectContaining({ kind: 'answer' }),
    );
  });
});
