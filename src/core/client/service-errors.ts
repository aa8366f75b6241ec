import {
  checkable,
  Failure,
  type FailureKind,
  type Hint,
  seeInDoctor,
} from '../../base/failure.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import { recordsOf } from '../../contract/read-record.ts';

/** The most characters of a message of the service, which can have any length. */
const LONGEST = 500;

/** An error response. */
export interface ServiceError {
  readonly failure: Failure;
  /**
   * Only a response with a documented code certainly comes from the service, and has the documented
   * price.
   */
  readonly own: boolean;
}

/**
 * Parses an error response. `body` is the parsed JSON of the response; undefined if it is not JSON.
 */
export function readServiceError(answer: HttpAnswer, body: unknown, now: number): ServiceError {
  const { status } = answer;
  const { own, stated, message: text, waits } = readErrorBody(status, body);
  const message = text && text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  const error = describedError(answer, message, own, stated);
  return {
    failure: new Failure(error.kind, error.message, {
      code: error.code,
      status,
      retryable: error.retryable,
      retryAfter: secondsOf([...waits, answer.headers['retry-after']], now),
      requestId: requestIdOf(answer, body),
      hint: error.hint,
    }),
    own: own !== undefined,
  };
}

interface DescribedError {
  readonly kind: FailureKind;
  readonly message: string;
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: Hint;
}

function describedError(
  answer: HttpAnswer,
  message: string | undefined,
  own: ErrorCode | undefined,
  stated: string | undefined,
): DescribedError {
  if (own !== undefined) return documentedError(answer.status, own, message);
  if (stated !== undefined) return newerError(answer.status, stated, message);
  return foreignError(answer, message);
}

/** An error with a code of the description. A gateway may have replaced its status. */
function documentedError(
  status: number,
  code: ErrorCode,
  message: string | undefined,
): DescribedError {
  const documented = errorCodes[code];
  return {
    kind: kinds[status] ?? kinds[documented.status] ?? 'service',
    message: message ?? documented.meaning,
    code,
    retryable: documented.status === status ? documented.retryable : isPassing(status),
    hint: hints[code],
  };
}

/** An error with a code that this version of trdr does not know. */
const newerError = (status: number, code: string, message: string | undefined): DescribedError => ({
  kind: kindWithoutCode(status),
  message: message ?? `HTTP ${status}`,
  code,
  retryable: true,
  hint: seeInDoctor(
    'how the service has changed; this version of trdr does not know this error code',
  ),
});

/** An error without a code, which the service itself would not send. */
const foreignError = (answer: HttpAnswer, message: string | undefined): DescribedError => ({
  kind: kindWithoutCode(answer.status),
  message: foreignText(answer, message),
  code: `HTTP_${answer.status}`,
  retryable: true,
  hint: OTHER_SERVER,
});

/**
 * A 404 without a documented code is not "trader not found": any server at this address could send
 * it.
 */
const kindWithoutCode = (status: number): FailureKind => (status === 429 ? 'rate' : 'service');

/** Says what came, and from whom: the service itself always states a code. */
function foreignText({ status, headers }: HttpAnswer, message: string | undefined): string {
  const type = headers['content-type']?.split(';')[0];
  const from = [headers['server'], type].filter(Boolean).join(', ').slice(0, 100);
  const text = `received HTTP ${status}, probably from a proxy or firewall instead of the service`;
  return `${text}${from && ` (${from})`}${message === undefined ? '' : `: ${message}`}`;
}

/**
 * The statuses that cost nothing, even if a proxy sends them. A 5xx without a code comes from a
 * gateway, and the service behind it may have processed the call.
 */
export const unbilled: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * Reads a documented code (`own`) or another one (`stated`). The documented format is `{error:
 * {code, message}}`; frameworks and gateways send `{error: "text"}`, `{code, message}`,
 * `{message}`, `{detail}` or `{errors: [...]}`.
 */
function readErrorBody(status: number, body: unknown) {
  const whole = isRecord(body) ? body : {};
  const inner = isRecord(whole['error']) ? whole['error'] : {};
  const code = wordOf(inner['code']);
  const outer = wordOf(whole['code']);
  // In another place, a code such as FORBIDDEN can be that of another API, so its status must fit
  // too.
  const fitting = [outer, whole['error'], recordsOf(whole['errors'])[0]?.['code']]
    .filter(isErrorCode)
    .filter((candidate) => errorCodes[candidate].status === status);
  const texts = [inner['message'], whole['message'], whole['detail'], whole['error']].map(textOf);
  return {
    own: [code?.toUpperCase(), ...fitting].find(isErrorCode),
    stated: [code, outer].find((word) => word !== undefined && !isErrorCode(word)),
    message: texts.find((text) => text !== undefined && text.trim() !== ''),
    waits: [whole['retryAfter'], inner['retryAfter']],
  };
}

/** The value, if it may be an error code: a single word. A sentence is a message. */
const wordOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[A-Za-z][\w.-]{0,99}$/.test(value) ? value : undefined;

/** The request id, which support asks for, from the body or a header. */
export function requestIdOf(answer: HttpAnswer, body: unknown): string | undefined {
  const meta = isRecord(body) && isRecord(body['meta']) ? body['meta'] : {};
  const id =
    textOf(meta['requestId']) ?? answer.headers['x-request-id'] ?? answer.headers['request-id'];
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

const isPassing = (status: number) => status === 429 || status >= 500;

/** Whether a value is a plausible wait in seconds: not negative, and at most 32 years. */
const isWait = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= 1e9;

/**
 * The first wait that the response states, in seconds: a number, a number as text, or an HTTP date.
 */
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

export const DIFFERENT_SERVICE = seeInDoctor('how the service differs from its description');

/** The hint for a response that the service itself would not send. */
export const OTHER_SERVER = checkable(
  'the answer may come from another server; check the base URL and any proxy',
);

/**
 * It is true for every plan, because an error of the service does not say which one the key has.
 */
export const UNITS_USED_UP =
  'top up, or wait for the next UTC month; those of a free key (Explore) were granted once: change its plan. "trdr me" shows what is left';

const FIX_REQUEST = 'fix the part that the message names; --debug shows the request that was sent';

const hints: Readonly<Record<ErrorCode, Hint>> = {
  VALIDATION_ERROR: FIX_REQUEST,
  BAD_REQUEST: FIX_REQUEST,
  UNAUTHORIZED: 'check the key: trdr auth status --check',
  QUOTA_EXCEEDED: UNITS_USED_UP,
  REVEAL_LIMIT_REACHED: 'show the remaining reveals and the reset date: trdr me',
  FORBIDDEN:
    'see whether the plan of the key allows it: trdr me; a free key (Explore) reveals the wallets of a few sample accounts only',
  FORBIDDEN_SCOPE: 'show the scopes of the key: trdr me',
  FREE_TIER_DISABLED:
    'the key has no units: change its plan, or use another key; "trdr me" shows the plan',
  NOT_OBSERVED: 'try again later; the subject may have a verified link by then',
  NOT_FOUND: checkable('check the base URL'),
  CONFLICT:
    'the first request is still in progress; check its result before you repeat the request',
  RATE_LIMITED: 'other programs may be using the same key or IP address; try again later',
  INTERNAL_ERROR: 'try again later; if it keeps failing, contact support',
  OVERLOADED: 'try again later',
  B2B_DISABLED: 'nothing is wrong on your side; try again later',
  TIMEOUT: 'try again later',
};
