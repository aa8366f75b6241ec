/** A window of time that holds a number of calls. */
export interface Window {
  /** Takes a place, or says how many whole seconds to wait for one. */
  take(now: number): { readonly ok: true } | { readonly ok: false; readonly retryAfter: number };
  clear(): void;
}

/** At most `limit` calls within any `spanMs`; a refused call takes no place. */
export function slidingWindow(limit: number, spanMs: number): Window {
  const taken: number[] = [];
  let oldest = 0;
  return {
    take(now) {
      while (oldest < taken.length && (taken[oldest] ?? 0) <= now - spanMs) oldest++;
      if (oldest > 4096 && oldest * 2 > taken.length) {
        taken.splice(0, oldest);
        oldest = 0;
      }
      if (taken.length - oldest >= limit) {
        const free = (taken[oldest] ?? now) + spanMs;
        return { ok: false, retryAfter: Math.max(1, Math.ceil((free - now) / 1000)) };
      }
      taken.push(now);
      return { ok: true };
    },
    clear() {
      taken.length = 0;
      oldest = 0;
    },
  };
}

/** One window for each name (an IP address), made when first asked for. */
export function windowsBy(make: () => Window): (name: string) => Window {
  const windows = new Map<string, Window>();
  return (name) => {
    const known = windows.get(name);
    if (known) return known;
    const made = make();
    windows.set(name, made);
    return made;
  };
}
