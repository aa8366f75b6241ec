import { type ErrorCode, errorCodes } from '../../../contract/errors.ts';

/** An error response of the API. */
export interface ApiError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Seconds to wait; only for 429. */
  readonly retryAfter?: number | undefined;
}

/**
 * Where `retryAfter` is in the body of a 429: next to `error` or inside it. The service description does not
 * state this.
 */
export type RetryAfterPlace = 'beside' | 'inside';

/** The error with a given code. The message is the documented meaning, unless another message is given. */
export const apiError = (
  code: ErrorCode,
  message: string = errorCodes[code].meaning,
  retryAfter?: number,
): ApiError => ({ code, message, retryAfter });

/** The documented body of an error response. */
export function apiErrorBody({ code, message, retryAfter }: ApiError, place: RetryAfterPlace): unknown {
  if (retryAfter === undefined) return { error: { code, message } };
  return place === 'beside'
    ? { error: { code, message }, retryAfter }
    : { error: { code, message, retryAfter } };
}
