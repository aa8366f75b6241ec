import type { Failure } from '../../base/failure.ts';
import { renewalOf } from '../../base/periods.ts';
import { BUDGET } from '../../contract/budget.ts';

/**
 * Milliseconds until calls are possible again after a budget or the allowance of the key was used up; undefined for
 * all other failures. An allowance resets with the UTC month.
 */
export function waitsForUnits(failure: Failure, now: number): number | undefined {
  if (!isOutOfUnits(failure)) return undefined;
  return failure.code === BUDGET ? 1_000 * (failure.retryAfter ?? 0) : resetsIn(now);
}

/** Whether a call was rejected because a budget or the allowance of the key is used up. */
export const isOutOfUnits = ({ code, kind }: Failure): boolean => code === BUDGET || kind === 'quota';

/** Milliseconds until the allowance of the key resets. */
export const resetsIn = (now: number): number => renewalOf('month', now) - now;
