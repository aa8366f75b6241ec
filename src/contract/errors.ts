import * as z from 'zod/mini';
import { field } from './field.ts';

/** Every error code of the service: its status, whether a retry can help, and its meaning. */
export const errorCodes = {
  VALIDATION_ERROR: {
    status: 400,
    retryable: false,
    meaning: 'Malformed handle, address or query parameter.',
  },
  BAD_REQUEST: { status: 400, retryable: false, meaning: 'The request cannot be served as sent.' },
  UNAUTHORIZED: { status: 401, retryable: false, meaning: 'Missing or invalid API key.' },
  QUOTA_EXCEEDED: {
    status: 402,
    retryable: false,
    meaning: 'Out of credits until the counter resets or a top-up is made.',
  },
  REVEAL_LIMIT_REACHED: {
    status: 402,
    retryable: false,
    meaning: 'The wallet-reveal allowance of the period is spent; top-ups cannot lift it.',
  },
  FORBIDDEN: { status: 403, retryable: false, meaning: 'The key may not perform this action.' },
  FORBIDDEN_SCOPE: {
    status: 403,
    retryable: false,
    meaning: 'The key is not provisioned for this endpoint.',
  },
  FREE_TIER_DISABLED: { status: 403, retryable: false, meaning: 'The key has no allowance.' },
  NOT_OBSERVED: {
    status: 404,
    retryable: false,
    meaning: 'No verified match for the subject; not a statement that it is unknown to the platform.',
  },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'No such route or resource.' },
  CONFLICT: { status: 409, retryable: false, meaning: 'The request conflicts with one already accepted.' },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    meaning: 'Per-minute limit or per-IP ceiling exceeded; retry after retryAfter seconds.',
  },
  INTERNAL_ERROR: { status: 500, retryable: true, meaning: 'Server fault; retry.' },
  OVERLOADED: { status: 503, retryable: true, meaning: 'Load shedding; nothing charged; retry.' },
  B2B_DISABLED: { status: 503, retryable: false, meaning: 'The API is switched off on this deployment.' },
  TIMEOUT: { status: 504, retryable: true, meaning: 'The answer did not arrive in time; retry.' },
} as const satisfies Record<string, { status: number; retryable: boolean; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);

/**
 * The body of every error. The description does not say where `retryAfter` of a 429 is (beside `error` or
 * inside it), so both places are read.
 */
export const ErrorBody = z.looseObject({
  error: z.looseObject({
    code: field(z.string(), 'What went wrong, for programs.'),
    message: field(z.string(), 'What went wrong, for people.'),
    retryAfter: z.optional(field(z.number(), 'Seconds to wait; where the service puts it inside.')),
  }),
  retryAfter: z.optional(field(z.number(), 'Seconds to wait before asking again; on a 429.')),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
