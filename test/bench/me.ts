/** A key without limits, so that only the program is measured. */
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
