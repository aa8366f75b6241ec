/** The UTC periods of budgets, as their keys name them. */
export interface Periods {
  readonly month: string;
  readonly day: string;
}

export function periodsAt(epochMs: number): Periods {
  const iso = new Date(epochMs).toISOString();
  return { month: iso.slice(0, 7), day: iso.slice(0, 10) };
}

/** Seconds until the end of a period, when a budget renews. */
export function secondsToRenewal(period: 'month' | 'day', epochMs: number): number {
  const now = new Date(epochMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const end = period === 'month' ? Date.UTC(year, month + 1) : Date.UTC(year, month, day + 1);
  return Math.ceil((end - epochMs) / 1000);
}
