/** Without --max-age. */
export const MAX_AGE_MS = 3_600_000;
/** Shorter, because the subject may get a verified link at any time. */
export const MISS_AGE_MS = 300_000;
/** Shorter, because numbers change with every trade. */
export const NUMBERS_AGE_MS = 600_000;
