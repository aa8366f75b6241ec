/** How long cached answers are used if --max-age is not given. */
export const MAX_AGE_MS = 3_600_000;
/** "Not found" expires sooner, because a link may be verified at any time. */
export const MISS_AGE_MS = 300_000;
/** Numbers change with every trade, so they expire sooner than users. */
export const NUMBERS_AGE_MS = 600_000;
