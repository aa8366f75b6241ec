import type { ErrorCode } from '../../src/contract/errors.ts';

/** The exit code for each error code of the service, as documented. */
export const exitOfCode: Record<ErrorCode, number> = {
  VALIDATION_ERROR: 2,
  BAD_REQUEST: 2,
  UNAUTHORIZED: 4,
  QUOTA_EXCEEDED: 6,
  REVEAL_LIMIT_REACHED: 6,
  FORBIDDEN: 5,
  FORBIDDEN_SCOPE: 5,
  FREE_TIER_DISABLED: 5,
  NOT_OBSERVED: 3,
  NOT_FOUND: 9,
  CONFLICT: 9,
  RATE_LIMITED: 7,
  INTERNAL_ERROR: 9,
  OVERLOADED: 9,
  B2B_DISABLED: 9,
  TIMEOUT: 9,
};
