import { type ErrorCode, errorCodes } from '../../../contract/errors.ts';

/** An answer that is an error, before it is written. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** Seconds; on a 429. */
  readonly retryAfter?: number | undefined;
}

/** Where `retryAfter` of a 429 stands: beside `error`, or inside it. The service does not say. */
export type RetryAfterPlace = 'beside' | 'inside';

/** An error by its code, in the words of its meaning unless others are given. */
export const refusal = (
  code: ErrorCode,
  message: string = errorCodes[code].meaning,
  retryAfter?: number,
): Refusal => ({ code, message, retryAfter });

/** The documented body of an error. */
export function bodyOfRefusal({ code, message, retryAfter }: Refusal, place: RetryAfterPlace): unknown {
  if (retryAfter === undefined) return { error: { code, message } };
  return place === 'beside'
    ? { error: { code, message }, retryAfter }
    : { error: { code, message, retryAfter } };
}
