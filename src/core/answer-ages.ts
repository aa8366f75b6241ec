/** The maximum age of a cached answer if --max-age is not given. */
export const MAX_AGE_MS = 3_600_000;
/** A "not found" answer expires sooner, because the subject may get a verified link at any time. */
export const MISS_AGE_MS = 300_000;
/** Trading numbers expire sooner than users, because numbers change with every trade. */
export const NUMBERS_AGE_MS = 600_000;
