/** How long an answer may be used again by default; --max-age changes it for a run. */
export const ANSWER_AGE_MS = 3_600_000;
/** The age is shorter than that of users, because numbers change with every trade. */
export const NUMBERS_AGE_MS = 600_000;
/** A miss is kept for less time, because the subject may get a verified link at any time. */
const MISS_AGE_MS = 300_000;
/** How long machines share an answer. */
export const SHARED_AGE_MS = 30 * 86_400_000;

/** How long a miss may be used again, where answers are kept for `maxAgeMs`. */
export const missAgeOf = (maxAgeMs: number): number => Math.min(MISS_AGE_MS, maxAgeMs);

/** Whether an answer may be used again. A negative age means that a clock was or is wrong. */
export const isWithin = (time: number, maxAgeMs: number, now: number): boolean =>
  now >= time && now - time < maxAgeMs;
