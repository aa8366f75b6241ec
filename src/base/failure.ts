/**
 * Every way in which a command can fail, told apart by what the user can do about it. The rooms throw
 * these; `cli` alone knows which exit code each kind ends in.
 */
export type FailureKind =
  | 'usage' // wrong input, or the service said 400
  | 'missing' // 404
  | 'auth' // no key, or 401
  | 'forbidden' // 403
  | 'quota' // 402
  | 'limit' // a limit of the user's own
  | 'rate' // still 429 after the waits allowed
  | 'pending' // resolve: not answerable yet
  | 'service' // the service failed, after retries
  | 'network' // it could not be reached, or broke off
  | 'answer' // it answered in a form that can't be read
  | 'confirm' // confirmation required, and no terminal to ask on
  | 'local' // a file, lock or folder of this machine failed
  | 'strict'; // --strict, and a subject was missing or failed

/** The fields of an error beyond its message; absent members stay out of the output. */
export interface FailureFields {
  readonly code: string;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  /** What to run or change next. */
  readonly hint?: string | undefined;
  /** An answer as it came, where it was paid for and cannot be read. */
  readonly answer?: string | undefined;
  readonly cause?: unknown;
}

/** The one error class of the program: a kind, a code, and what helps. */
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

/** Wrong input: says what is wrong and what to do. */
export const usageError = (message: string, hint?: string) =>
  new Failure('usage', message, { code: 'USAGE', hint });
