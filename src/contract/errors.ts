import * as z from 'zod/mini';
import { float, string } from './field.ts';

const row = (status: number, meaning: string, retryable = false) => ({
  status,
  retryable,
  meaning,
});

/** Every error code of the service: its status, its meaning, and whether a retry can succeed. */
export const errorCodes = {
  VALIDATION_ERROR: row(400, 'Malformed handle, address or query parameter.'),
  BAD_REQUEST: row(400, 'The service cannot process the request in this form.'),
  UNAUTHORIZED: row(401, 'Missing or invalid API key.'),
  QUOTA_EXCEEDED: row(402, 'No units are left until the month ends or a top-up is bought.'),
  REVEAL_LIMIT_REACHED: row(
    402,
    'The monthly allowance of wallet reveals is used up; a top-up does not raise it.',
  ),
  FORBIDDEN: row(403, 'The key has no permission for this action.'),
  FORBIDDEN_SCOPE: row(403, 'The key has no access to this endpoint.'),
  FREE_TIER_DISABLED: row(403, 'The key has no allowance.'),
  NOT_OBSERVED: row(
    404,
    'The service has no verified link for the subject. The subject may still exist on the platform.',
  ),
  NOT_FOUND: row(404, 'This route or resource does not exist.'),
  CONFLICT: row(409, 'The request conflicts with an earlier one.'),
  RATE_LIMITED: row(
    429,
    'Too many requests per minute for the key, or from the IP address; retry after retryAfter seconds.',
    true,
  ),
  INTERNAL_ERROR: row(500, 'The service failed; retry.', true),
  OVERLOADED: row(503, 'The service is overloaded; nothing was charged; retry.', true),
  B2B_DISABLED: row(503, 'The API is switched off on this deployment.'),
  TIMEOUT: row(504, 'The service could not answer in time; retry.', true),
};

export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(errorCodes, code);

/**
 * The body of every error. The description does not say whether the `retryAfter` of a 429 is inside
 * `error` or next to it, so trdr reads both places.
 */
export const ErrorBody = z.looseObject({
  error: z.looseObject({
    code: string('Error code, for programs.'),
    message: string('Error message, for people.'),
    retryAfter: z.optional(float('Seconds to wait, if sent inside the error object.')),
  }),
  retryAfter: z.optional(float('Seconds to wait before the next request; sent with a 429.')),
});

/** What an answer states next to its `data`. */
export const Meta = z.looseObject({
  asOf: string('When the data was observed.', { format: 'date-time' }),
  requestId: string('Unique to each request; quote it when you contact support.'),
});
export type Meta = z.infer<typeof Meta>;
