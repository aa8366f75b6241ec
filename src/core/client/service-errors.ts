import { Failure, type FailureKind } from '../../base/failure.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import { recordsOf } from '../../contract/read-record.ts';

/** Of a message, in characters. */
const LONGEST = 500;

/** `body` is the parsed JSON of the response; undefined if it is not JSON. */
export function readServiceError(answer: HttpAnswer, body: unknown, now: number) {
  const { status } = answer;
  const { own, stated, message: text, waits } = readErrorBody(status, body);
  const message = text && text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  const known = own && errorCodes[own];
  const code = own ?? stated;
  return {
    failure: new Failure(
      known
        ? (kinds[status] ?? kinds[known.status] ?? 'service')
        : status === 429
          ? 'rate'
          : 'service',
      code === undefined
        ? foreignText(answer, message)
        : (message ?? known?.meaning ?? `HTTP ${status}`),
      {
        code: code ?? `HTTP_${status}`,
        status,
        retryable: known?.status === status ? known.retryable : !known || isPassing(status),
        retryAfter: secondsOf([...waits, answer.headers['retry-after']], now),
        requestId: requestIdOf(answer, body),
        hint: own ? hints[own] : code === undefined ? OTHER_SERVER : UNKNOWN_CODE,
      },
    ),
    /** Only a response with a documented code certainly comes from the service, and has the documented price. */
    own: own !== undefined,
  };
}

/** Says what came, and from whom: the service itself always states a code. */
function foreignText({ status, headers }: HttpAnswer, message: string | undefined): string {
  const type = headers['content-type']?.split(';')[0];
  const from = [headers['server'], type].filter(Boolean).join(', ').slice(0, 100);
  const text = `received HTTP ${status}, probably from a proxy or firewall instead of the service`;
  return `${text}${from && ` (${from})`}${message === undefined ? '' : `: ${message}`}`;
}

/** Whether the service may have charged although the answer does not show it. It never does for 401, 403 and 429. */
export const mayBeCharged = ({ kind, code, status }: Failure): boolean =>
  kind === 'answer' ||
  code === 'BROKEN' ||
  code === 'NO_ANSWER' ||
  (kind === 'service' && status !== undefined && !isErrorCode(code) && !unbilled.has(status));

/** Statuses that cost nothing, even if a proxy sends them. A 5xx of a gateway may hide an answer that was charged. */
export const unbilled: ReadonlySet<number> = new Set([401, 403, 429]);

/** Reads a documented code (`own`) or another one (`stated`). The documented format is `{error: {code, message}}`. */
function readErrorBody(status: number, body: unknown) {
  const whole = isRecord(body) ? body : {};
  const inner = isRecord(whole['error']) ? whole['error'] : {};
  const [code, outer] = [wordOf(inner['code']), wordOf(whole['code'])];
  // In another place, a code such as FORBIDDEN can be that of another API, so its status must fit too.
  const fitting = [outer, whole['error'], recordsOf(whole['errors'])[0]?.['code']]
    .filter(isErrorCode)
    .filter((one) => errorCodes[one].status === status);
  const texts = [inner['message'], whole['message'], whole['detail'], whole['error']].map(textOf);
  return {
    own: [code?.toUpperCase(), ...fitting].find(isErrorCode),
    stated: [code, outer].find((one) => one !== undefined && !isErrorCode(one)),
    message: texts.find((text) => text !== undefined && text.trim() !== ''),
    waits: [whole['retryAfter'], inner['retryAfter']],
  };
}

/** A field that may be an error code: a single word. A sentence is a message. */
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

export const OTHER_SERVER =
  'the answer may come from another server; check the base URL and any proxy: trdr doctor';

const UNKNOWN_CODE =
  'run "trdr doctor" to see how the service has changed; this version of trdr does not know this error code';

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
  CONFLICT:
    'the first request is still in progress; check its result before you repeat the request',
  RATE_LIMITED: 'other programs may be using the same key or IP address; try again later',
  INTERNAL_ERROR: 'try again later; if it keeps failing, quote the request id to support',
  OVERLOADED: 'try again later',
  B2B_DISABLED: 'nothing is wrong on your side; try again later',
  TIMEOUT: 'try again later',
};
