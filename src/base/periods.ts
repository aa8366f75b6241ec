/** The periods of a budget: calendar months and days in UTC. */
export type Period = 'month' | 'day';

/** The month and day of a time, as they appear in keys of the store and file names. */
export function periodsAt(epochMs: number): Readonly<Record<Period, string>> {
  const iso = new Date(epochMs).toISOString();
  return { month: iso.slice(0, 7), day: iso.slice(0, 10) };
}

/** The end of the period that contains a time, when the budget of the period renews. Epoch ms. */
export function renewalOf(period: Period, epochMs: number): number {
  const now = new Date(epochMs);
  const year = now.getUTCFullYear();
  const month = now.getUTCMonth();
  return period === 'month'
    ? Date.UTC(year, month + 1)
    : Date.UTC(year, month, now.getUTCDate() + 1);
}
