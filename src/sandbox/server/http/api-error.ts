import { type ErrorCode, errorCodes } from '../../../contract/errors.ts';

/** An error response of the API. */
export interface ApiError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Seconds; only for 429. */
  readonly retryAfter?: number | undefined;
}

/** The place of `retryAfter` in the body of a 429; the service description does not say. */
export type RetryAfterPlace = 'beside' | 'inside';

/** An error by its code; the default message is the documented meaning. */
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
