import type { Failure } from '../base/failure.ts';
import { LONGEST_BLOCK_MS } from '../core/spend/rate-limiter.ts';

/** The time in milliseconds that a failure asks to wait, bounded: see `LONGEST_BLOCK_MS`. */
export const waitAfter = ({ retryAfter = 0 }: Failure): number =>
  Math.min(retryAfter * 1_000, LONGEST_BLOCK_MS);
