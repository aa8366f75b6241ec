import { describe, expect, it } from 'vitest';
import { type Planned, totalOf } from '../../../src/core/spend/plan.ts';

const page: Planned = { id: 'thesis.all', ask: { query: { limit: 100 } } };

describe('the cost of planned calls', () => {
  it.each<[string, readonly Planned[], number, number | null]>([
    ['of none is nothing', [], 0, 0],
    ['is that of the endpoint', [page], 1_000, 1_000],
    ['counts the greatest number of calls', [{ ...page, times: 5 }], 1_000, 5_000],
    ['has no maximum without a greatest number', [{ ...page, times: null }], 1_000, null],
    ['of a call that may not be needed is optional', [{ ...page, isSure: false }], 0, 1_000],
    ['can be stated', [{ ...page, times: 5, least: 5_000, most: 5_000 }], 5_000, 5_000],
    ['of a tail is that of a minute', [{ ...page, perMinute: 7 }], 7_000, 7_000],
    ['sums all calls', [page, { ...page, times: 2 }], 2_000, 3_000],
    ['has no maximum if one call has none', [page, { ...page, times: null }], 2_000, null],
    [
      'has no maximum if a price is not known',
      [page, { method: 'GET', path: '/x', body: undefined, name: 'GET /x', bounds: undefined }],
      1_000,
      null,
    ],
  ])('%s', (_, calls, least, most) => {
    expect(totalOf(calls)).toMatchObject({ least, most });
  });
});
