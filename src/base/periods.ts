export type Period = 'month' | 'day';

export function periodsAt(epochMs: number): Readonly<Record<Period, string>> {
  const iso = new Date(epochMs).toISOString();
  return { month: iso.slice(0, 7), day: iso.slice(0, 10) };
}

export function renewalOf(period: Period, epochMs: number): number {
  const now = new Date(epochMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return period === 'month' ? Date.UTC(year, month + 1) : Date.UTC(year, month, day + 1);
}
