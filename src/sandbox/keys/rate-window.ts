/** Limits the number of calls in a period. */
export interface RateWindow {
  /** Counts a call, or returns how many seconds to wait. */
  tryAcquire(now: number): { readonly ok: true } | { readonly ok: false; readonly retryAfter: number };
  clear(): void;
}

/**
 * A sliding window that allows at most `limit` calls within any period of `spanMs`. Rejected calls do not
 * count.
 */
export function slidingWindow(limit: number, spanMs: number): RateWindow {
  const times: number[] = [];
  let oldest = 0;
  return {
    tryAcquire(now) {
      while (oldest < times.length && (times[oldest] ?? 0) <= now - spanMs) oldest++;
      if (oldest > 4096 && oldest * 2 > times.length) {
        times.splice(0, oldest);
        oldest = 0;
      }
      if (times.length - oldest >= limit) {
        const free = (times[oldest] ?? now) + spanMs;
        return { ok: false, retryAfter: Math.max(1, Math.ceil((free - now) / 1000)) };
      }
      times.push(now);
      return { ok: true };
    },
    clear() {
      times.length = 0;
      oldest = 0;
    },
  };
}

/** One window for each client, created on first use. */
export function windowPerClient(create: () => RateWindow): (client: string) => RateWindow {
  const windows = new Map<string, RateWindow>();
  return (client) => {
    const known = windows.get(client);
    if (known) return known;
    const created = create();
    windows.set(client, created);
    return created;
  };
}
