import * as z from 'zod/mini';
import { field } from './field.ts';

export const errorCodes = {
  VALIDATION_ERROR: {
    status: 400,
    retryable: false,
    meaning: 'Malformed handle, address or query parameter.',
  },
  BAD_REQUEST: {
    status: 400,
    retryable: false,
    meaning: 'The service cannot process the request in this form.',
  },
  UNAUTHORIZED: { status: 401, retryable: false, meaning: 'Missing or invalid API key.' },
  QUOTA_EXCEEDED: {
    status: 402,
    retryable: false,
    meaning: 'No units are left until the month ends or a top-up is bought.',
  },
  REVEAL_LIMIT_REACHED: {
    status: 402,
    retryable: false,
    meaning: 'The monthly allowance of wallet reveals is used up; a top-up does not raise it.',
  },
  FORBIDDEN: { status: 403, retryable: false, meaning: 'The key has no permission for this action.' },
  FORBIDDEN_SCOPE: {
    status: 403,
    retryable: false,
    meaning: 'The key has no access to this endpoint.',
  },
  FREE_TIER_DISABLED: { status: 403, retryable: false, meaning: 'The key has no allowance.' },
  NOT_OBSERVED: {
    status: 404,
    retryable: false,
    meaning: 'The service has no verified link for the subject. The subject may still exist on the platform.',
  },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'This route or resource does not exist.' },
  CONFLICT: { status: 409, retryable: false, meaning: 'The request conflicts with an earlier one.' },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    meaning:
      'Too many requests per minute for the key, or from the IP address; retry after retryAfter seconds.',
  },
  INTERNAL_ERROR: { status: 500, retryable: true, meaning: 'The service failed; retry.' },
  OVERLOADED: {
    status: 503,
    retryable: true,
    meaning: 'The service is overloaded; nothing was charged; retry.',
  },
  B2B_DISABLED: { status: 503, retryable: false, meaning: 'The API is switched off on this deployment.' },
  TIMEOUT: { status: 504, retryable: true, meaning: 'The service could not answer in time; retry.' },
} as const satisfies Record<string, { status: number; retryable: boolean; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);

/** The description does not say where the `retryAfter` of a 429 is, so trdr reads both places. */
export const ErrorBody = z.looseObject({
  error: z.looseObject({
    code: field(z.string(), 'Error code, for programs.'),
    message: field(z.string(), 'Error message, for people.'),
    retryAfter: z.optional(field(z.number(), 'Seconds to wait, if sent inside the error object.')),
  }),
  retryAfter: z.optional(field(z.number(), 'Seconds to wait before the next request; sent with a 429.')),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
