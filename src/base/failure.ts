/** One for each way in which the user can react. Only `cli` maps kinds to exit codes. */
export type FailureKind =
  | 'usage' // wrong input, or HTTP 400
  | 'missing' // HTTP 404, or the service has no record of what was searched for
  | 'auth' // no API key or base URL, an invalid API key, or HTTP 401
  | 'forbidden' // HTTP 403
  | 'quota' // HTTP 402
  | 'limit' // a limit set by the user, such as --max-cu or a budget
  | 'rate' // HTTP 429, even after the longest wait allowed
  | 'pending' // HTTP 202: a resolve without an answer yet
  | 'service' // a redirect, HTTP 5xx (even after retries), or an undocumented status
  | 'network' // the service could not be reached, the connection broke, or the shared store failed
  | 'answer' // the response cannot be read or used
  | 'confirm' // the user declined, or confirmation is required but there is no terminal for the prompt
  | 'local' // a problem on this machine, such as a failed file operation or a lock in use; also a bug in trdr
  | 'strict'; // --strict is set, and a subject was missing or failed

interface FailureFields {
  readonly code: string;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  /** In seconds. */
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  readonly hint?: string | undefined;
  /** The raw response, if the call was charged but its response cannot be read. */
  readonly answer?: string | undefined;
  readonly cause?: unknown;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;
  readonly code: string;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  readonly hint: string | undefined;
  readonly answer: string | undefined;

  constructor(kind: FailureKind, message: string, fields: FailureFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.kind = kind;
    this.code = fields.code;
    this.status = fields.status;
    this.retryable = fields.retryable ?? false;
    this.retryAfter = fields.retryAfter;
    this.requestId = fields.requestId;
    this.hint = fields.hint;
    this.answer = fields.answer;
  }
}

/** The fields that are printed, in order. A new field also needs a line in `ErrorInfo`. */
export const printedFields = ({
  code,
  message,
  status,
  retryable,
  retryAfter,
  requestId,
  hint,
}: PrintedFailure) => ({ code, message, status, retryable, retryAfter, requestId, hint });

export type PrintedFailure = Pick<
  Failure,
  'code' | 'message' | 'status' | 'retryable' | 'retryAfter' | 'requestId' | 'hint'
>;

export const withHint = (failure: Failure, hint: string): Failure =>
  new Failure(failure.kind, failure.message, { ...failure, cause: failure.cause, hint });

export const usageError = (message: string, hint: string) =>
  new Failure('usage', message, { code: 'USAGE', hint });
