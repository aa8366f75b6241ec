import { cu } from '../../contract/prices.ts';
import { encode } from '../../core/client/coding.ts';
import type { CachedLookup } from '../../core/lookup/cached-lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { Subjects } from '../args/subjects.ts';
import type { Planned } from '../context.ts';
import type { FullEstimate } from './preflight.ts';

/** The distinct subjects, in the order of the input. */
export function distinct(subjects: readonly Subject[]): Subject[] {
  return [...new Map(subjects.map((subject) => [`${subject.type}:${subject.normal}`, subject])).values()];
}

/**
 * The requests that a lookup of the subjects would need now. Subjects with a recent cached answer need no
 * request.
 */
export function* planLookups(users: CachedLookup, subjects: readonly Subject[]): Generator<Planned> {
  for (const subject of distinct(subjects)) {
    for (const { id, ask, sure } of users.plan(subject)) yield { id, ask, isSure: sure };
  }
}

/**
 * Estimates the cost of looking up subjects. If the cost without any cached answer is at most `enough`, the cache
 * is not read for the estimate.
 */
export function estimateLookups(
  users: CachedLookup,
  { checked, hasMore }: Subjects,
  enough: number,
): FullEstimate {
  if (hasMore) return { least: 0, most: null, reveals: null };
  const dearest = checked.reduce(
    (sum, { type }) => sum + (type === 'wallet' ? cu.reveal + cu.miss : cu.miss),
    0,
  );
  if (dearest <= enough) return { least: 0, most: dearest, reveals: checked.length };
  const sum = { least: 0, most: 0, reveals: 0 };
  for (const subject of distinct(checked)) {
    for (const { id, ask, sure } of users.plan(subject)) {
      const { least, most, reveals } = encode(id, ask).bounds;
      if (sure) sum.least += least;
      sum.most += most;
      sum.reveals += reveals;
    }
  }
  return sum;
}
