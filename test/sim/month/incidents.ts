import { rngOf } from '../rng.ts';

/** Something that happens during a simulated month; times are in virtual milliseconds. */
export interface Incident<K extends string> {
  readonly kind: K;
  readonly from: number;
  readonly to: number;
}

export interface IncidentPlan {
  readonly seed: number;
  readonly lengthMs: number;
  /** The mean time between two incidents of each kind. */
  readonly troubleMs: number;
}

/** The virtual time at which the first process starts. */
export const START_MS = 600_000;

/** Random incidents of each kind. There are none in the last minutes, so that everything can be read. */
export function incidentsOf<K extends string>(
  { seed, lengthMs, troubleMs }: IncidentPlan,
  kinds: readonly K[],
  lengthOf: Partial<Record<K, readonly [least: number, most: number]>>,
): Incident<K>[] {
  const rng = rngOf(seed, 7);
  const incidents: Incident<K>[] = [];
  for (const kind of kinds) {
    const [least, most] = lengthOf[kind] ?? [500, 60_000];
    for (let from = START_MS; ; ) {
      from += rng.between(0.5, 1.5) * Math.max(troubleMs, 3 * most);
      const to = from + rng.between(least, most);
      if (to > START_MS + lengthMs - 340_000) break;
      incidents.push({ kind, from, to });
    }
  }
  return incidents.sort((a, b) => a.from - b.from);
}
