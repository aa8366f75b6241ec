/** An account without limits, so that the benchmark measures only the program. */
export const me = {
  ratePerMinute: 1_000_000,
  usage: {
    period: '2026-01',
    unitsUsed: 0,
    unitsRemaining: null,
    additionalUnits: 0,
    revealsUsed: 0,
    revealsRemaining: null,
  },
  entitlement: { unmetered: true, monthlyUnits: 0 },
};
