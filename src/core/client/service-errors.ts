import * as z from 'zod/mini';
import { Failure, type FailureKind } from '../../base/failure.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import type { HttpAnswer } from '../../contract/ports.ts';

// Read more leniently than the contract writes it: whatever has a code is the service's own word.
const Body = z.looseObject({
  error: z.looseObject({
    code: z.string(),
    message: z.optional(z.unknown()),
    retryAfter: z.optional(z.unknown()),
  }),
  retryAfter: z.optional(z.unknown()),
});
const Identified = z.looseObject({ meta: z.looseObject({ requestId: z.string() }) });

/** The longest text of the service that a message repeats. */
const LONGEST = 500;

/** Text of the service as a message may repeat it: it is data, so it is bounded. */
const bounded = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** An error answer, read. */
export interface ServiceError {
  readonly failure: Failure;
  /** The body had the service's own form: what it says of billing holds. A gateway's page proves nothing. */
  readonly documented: boolean;
}

/** Reads an answer that is no success. `body` is its JSON, undefined where it is none. */
export function readServiceError(answer: HttpAnswer, body: unknown, now: number): ServiceError {
  const { status } = answer;
  const parsed = Body.safeParse(body);
  const error = parsed.success ? parsed.data.error : undefined;
  const code = error?.code.slice(0, 100) || `HTTP_${status}`;
  const known = isErrorCode(code) ? errorCodes[code] : undefined;
  const said =
    typeof error?.message === 'string' && error.message !== '' ? bounded(error.message) : undefined;
  const retryAfter = secondsOf(
    parsed.success
      ? [parsed.data.retryAfter, error?.retryAfter, answer.headers['retry-after']]
      : [answer.headers['retry-after']],
    now,
  );
  return {
    failure: new Failure(
      kindOf(status, error !== undefined),
      said ?? known?.meaning ?? `the service answered ${status}`,
      {
        code,
        status,
        retryable: known && known.status === status ? known.retryable : isPassing(status),
        retryAfter,
        requestId: requestIdOf(answer, body),
        hint: hintFor(code, status, error !== undefined),
      },
    ),
    documented: error !== undefined,
  };
}

/** The id to quote to support, from the body or a header. */
export function requestIdOf(answer: HttpAnswer, body: unknown): string | undefined {
  const inBody = Identified.safeParse(body);
  const id = inBody.success
    ? inBody.data.meta.requestId
    : (answer.headers['x-request-id'] ?? answer.headers['request-id']);
  return id?.slice(0, 200);
}

const kinds: Readonly<Record<number, FailureKind>> = {
  400: 'usage',
  401: 'auth',
  402: 'quota',
  403: 'forbidden',
  404: 'missing',
  429: 'rate',
};

/** A 404 that is not the service's own says nothing of who is held: the base URL may be wrong. */
const kindOf = (status: number, documented: boolean): FailureKind =>
  status === 404 && !documented ? 'service' : (kinds[status] ?? 'service');
const isPassing = (status: number) => status === 429 || (status >= 500 && status !== 501 && status !== 505);

/** Seconds that somebody can mean: what is no amount, or longer than a life, says nothing. */
const isWait = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1e9;

/** The first wait that is stated, in seconds: a number, a number as text, or an HTTP date. */
function secondsOf(stated: readonly unknown[], now: number): number | undefined {
  for (const value of stated) {
    if (isWait(value)) return value;
    if (typeof value !== 'string' || value.trim() === '') continue;
    const seconds = Number(value);
    if (isWait(seconds)) return seconds;
    const date = Number.isNaN(seconds) ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - now) / 1000));
  }
  return undefined;
}

const hints: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'correct what the message names; --debug shows the request as it was sent',
  BAD_REQUEST: 'correct what the message names; --debug shows the request as it was sent',
  UNAUTHORIZED: 'check the key: trdr auth status --check',
  QUOTA_EXCEEDED: 'see what is left and when it resets: trdr me',
  REVEAL_LIMIT_REACHED: 'see what is left and when it resets: trdr me',
  FORBIDDEN: 'see what the key may do: trdr me',
  FORBIDDEN_SCOPE: "see the key's scopes: trdr me",
  FREE_TIER_DISABLED: "see the key's plan: trdr me",
  NOT_OBSERVED: 'no verified link is held today; ask again later',
  NOT_FOUND: 'check the base URL: trdr doctor',
  CONFLICT: 'the first of the two is under way: see what came of it before you send it again',
  RATE_LIMITED: 'other programs may be using the same key or address; try again later',
  INTERNAL_ERROR: 'try again later; quote the request id to support',
  OVERLOADED: 'try again later',
  B2B_DISABLED: 'the service is switched off there; nothing on this side can help',
  TIMEOUT: 'try again later',
};

function hintFor(code: string, status: number, documented: boolean): string {
  if (isErrorCode(code)) return hints[code];
  if (!documented)
    return 'the answer did not come from the service itself; check the base URL and any proxy: trdr doctor';
  const [known] = Object.entries(errorCodes).find(([, meaning]) => meaning.status === status) ?? [];
  return known !== undefined && isErrorCode(known)
    ? hints[known]
    : 'this trdr does not know the code; see how the service has changed: trdr doctor';
}
