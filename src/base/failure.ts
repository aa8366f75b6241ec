/**
 * The kinds of failure, one for each thing that the user can do about it. All folders throw them; only
 * `cli` maps them to exit codes.
 */
export type FailureKind =
  | 'usage' // wrong input, or HTTP 400
  | 'missing' // 404
  | 'auth' // no key, or 401
  | 'forbidden' // 403
  | 'quota' // 402
  | 'limit' // a limit of the user's own
  | 'rate' // still 429 after the waiting time allowed
  | 'pending' // resolve: no answer yet
  | 'service' // the service failed, after retries
  | 'network' // it could not be reached, or the connection broke
  | 'answer' // its response cannot be read
  | 'confirm' // confirmation required, and no terminal to ask on
  | 'local' // a file, lock or folder of this machine failed
  | 'strict'; // --strict, and a subject was missing or failed

/** The fields of an error beyond its message; absent fields are left out of the output. */
export interface FailureFields {
  readonly code: string;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  /** What to run or change next. */
  readonly hint?: string | undefined;
  /** The raw response, if it was paid for and cannot be read. */
  readonly answer?: string | undefined;
  readonly cause?: unknown;
}

/** The error class of the program: a kind, a code and a hint. */
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

/** The fields of an error that are printed, in order. A new one also needs a line in `ErrorInfo`. */
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

/** A usage error: what is wrong with the input, and how to correct it. */
export const usageError = (message: string, hint?: string) =>
  new Failure('usage', message, { code: 'USAGE', hint });
