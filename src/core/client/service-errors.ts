import { Failure, type FailureKind } from '../../base/failure.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import type { HttpAnswer } from '../../contract/ports.ts';
import { recordsOf } from '../../contract/read-record.ts';

/** Maximum length of text from the service in a message. */
const LONGEST = 500;

/** Shortens a text from the service, which can have any length. */
const bounded = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** A parsed error response. */
export interface ServiceError {
  readonly failure: Failure;
  /**
   * Whether the body has an error code. If so, the response comes from the service itself, and the documented
   * prices apply.
   */
  readonly documented: boolean;
}

/**
 * Parses an error response. `body` is the parsed JSON of the response, or undefined if the response is not
 * JSON.
 */
export function readServiceError(answer: HttpAnswer, body: unknown, now: number): ServiceError {
  const { status } = answer;
  const { code: stated, message, waits } = readErrorBody(body);
  const code = stated ?? `HTTP_${status}`;
  const known = isErrorCode(code) ? errorCodes[code] : undefined;
  return {
    failure: new Failure(
      kindOf(status, stated !== undefined, known?.status),
      message ?? known?.meaning ?? `the service answered with status ${status}`,
      {
        code,
        status,
        retryable: known && known.status === status ? known.retryable : isPassing(status),
        retryAfter: secondsOf([...waits, answer.headers['retry-after']], now),
        requestId: requestIdOf(answer, body),
        hint: hintFor(code, status, stated !== undefined),
      },
    ),
    documented: stated !== undefined,
  };
}

/** The content of an error body. */
interface ErrorBody {
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** The waits that the response states, in order of precedence. */
  readonly waits: readonly unknown[];
}

/**
 * Reads an error body. The documented format is `{error: {code, message}}`; frameworks and gateways send
 * `{error: "text"}`, `{code, message}`, `{message}`, `{detail}` or `{errors: [...]}`.
 */
function readErrorBody(body: unknown): ErrorBody {
  if (!isRecord(body)) return { code: undefined, message: undefined, waits: [] };
  const { error } = body;
  const first = recordsOf(body['errors'])[0];
  const places = [...(isRecord(error) ? [error] : []), body, ...(first ? [first] : [])];
  const named = [...places.map(({ code }) => codeOf(code)), constantOf(error), codeOf(body['errorCode'])];
  const texts = [...places.flatMap(({ message, detail, title }) => [message, detail, title]), error];
  const waits = [body, ...places].flatMap((place) => [
    place['retryAfter'],
    place['retry_after'],
    place['retryAfterSeconds'],
  ]);
  const message = texts.map(textOf).find((text) => text !== undefined && text.trim() !== '');
  return { code: named.find(Boolean), message: message && bounded(message), waits };
}

/**
 * Reads a field that may be an error code: a known code in upper or lower case, or another single word. A
 * sentence is a message, not a code.
 */
function codeOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z][\w.-]{0,99}$/.test(value)) return undefined;
  return isErrorCode(value.toUpperCase()) ? value.toUpperCase() : value;
}

/** Reads an `error` that is text: only a known code, or a text written like `RATE_LIMITED`, is a code. */
const constantOf = (value: unknown) => {
  const code = codeOf(value);
  return code !== undefined && (isErrorCode(code) || /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(code))
    ? code
    : undefined;
};

/** The request id, which support asks for, from the body or a header. */
export function requestIdOf(answer: HttpAnswer, body: unknown): string | undefined {
  const meta = isRecord(body) && isRecord(body['meta']) ? body['meta'] : {};
  const id = textOf(meta['requestId']) ?? answer.headers['x-request-id'] ?? answer.headers['request-id'];
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

/**
 * The kind of failure of an error response. A 404 without a code is not "trader not found", because any
 * server at this address could send such a 404. If `kinds` does not contain the status, `usual` decides: the
 * status that is documented for the error code.
 */
const kindOf = (status: number, documented: boolean, usual: number | undefined): FailureKind =>
  status === 404 && !documented ? 'service' : (kinds[status] ?? kinds[usual ?? 0] ?? 'service');
const isPassing = (status: number) =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505);

/** Whether a value is a plausible wait in seconds: not negative, and at most 32 years. */
const isWait = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1e9;

/** The first wait that the response states, in seconds: a number, a number as text, or an HTTP date. */
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

/** The hint for a response that the service itself would not send. */
export const OTHER_SERVER =
  'the answer may come from another server; check the base URL and any proxy: trdr doctor';

const hints: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'fix the part that the message names; --debug shows the request that was sent',
  BAD_REQUEST: 'fix the part that the message names; --debug shows the request that was sent',
  UNAUTHORIZED: 'check the key: trdr auth status --check',
  QUOTA_EXCEEDED: 'show the remaining units and the reset date: trdr me',
  REVEAL_LIMIT_REACHED: 'show the remaining reveals and the reset date: trdr me',
  FORBIDDEN: 'show the permissions of the key: trdr me',
  FORBIDDEN_SCOPE: 'show the scopes of the key: trdr me',
  FREE_TIER_DISABLED: 'show the plan of the key: trdr me',
  NOT_OBSERVED: 'try again later; the subject may have a verified link by then',
  NOT_FOUND: 'check the base URL: trdr doctor',
  CONFLICT: 'the first request is still in progress; check its result before you repeat the request',
  RATE_LIMITED: 'other programs may be using the same key or IP address; try again later',
  INTERNAL_ERROR: 'try again later; if it keeps failing, quote the request id to support',
  OVERLOADED: 'try again later',
  B2B_DISABLED: 'nothing is wrong on your side; try again later',
  TIMEOUT: 'try again later',
};

function hintFor(code: string, status: number, documented: boolean): string {
  if (isErrorCode(code)) return hints[code];
  if (!documented) return OTHER_SERVER;
  const [known] = Object.entries(errorCodes).find(([, meaning]) => meaning.status === status) ?? [];
  return known !== undefined && isErrorCode(known)
    ? hints[known]
    : 'run "trdr doctor" to see how the service has changed; this version of trdr does not know this error code';
}
