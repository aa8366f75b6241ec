/**
 * The kinds of failure: one for each way in which the user can react. Every folder may throw each
 * kind; only `cli` maps kinds to exit codes.
 */
export type FailureKind =
  // wrong input, or HTTP 400
  | 'usage'
  // HTTP 404, or the service has no record of what was searched for
  | 'missing'
  // no API key or base URL, an invalid API key, or HTTP 401
  | 'auth'
  // HTTP 403
  | 'forbidden'
  // HTTP 402
  | 'quota'
  // a limit set by the user, such as --max-cu or a budget
  | 'limit'
  // HTTP 429, even after the longest wait allowed
  | 'rate'
  // HTTP 202: a resolve without an answer yet
  | 'pending'
  // a redirect, HTTP 5xx (even after retries), or an undocumented status
  | 'service'
  // the service could not be reached, the connection broke, or the shared store failed
  | 'network'
  // the response cannot be read or used
  | 'answer'
  // the user declined, or confirmation is required but there is no terminal for the prompt
  | 'confirm'
  // a problem on this machine, such as a failed file operation or a lock in use; also a bug in trdr
  | 'local'
  // --strict is set, and a subject was missing or failed
  | 'strict';

/** What a person has to agree to, so that a program can show it to one. */
export interface Approval {
  /** The greatest cost is null if it is not known. */
  readonly cuAtLeast: number;
  readonly cuAtMost: number | null;
  /** The CU that the key has left; null if that is not known, or has no limit. */
  readonly left: number | null;
  /** The command line that a person may run after agreeing. */
  readonly command: string;
}

/** A hint that sends the user to a command that checks what is wrong. */
interface CheckedHint {
  readonly hint: string;
  /** The hint for a user who already runs that command. */
  readonly checkHint: string;
}

export type Hint = string | CheckedHint;

/** Advice that `trdr doctor` can confirm. */
export const checkable = (advice: string): CheckedHint => ({
  hint: `${advice}: trdr doctor`,
  checkHint: advice,
});

/** A hint to see in `trdr doctor`, which shows it below to a user who runs it. */
export const seeInDoctor = (what: string): CheckedHint => ({
  hint: `run "trdr doctor" to see ${what}`,
  checkHint: `see below ${what}`,
});

type Hinted = Pick<Failure, 'hint'>;

export const hintOf = ({ hint }: Hinted): string | undefined =>
  typeof hint === 'object' ? hint.hint : hint;

/** The hint for a user who already runs `trdr doctor` or `trdr store check`. */
export const checkHintOf = ({ hint }: Hinted): string | undefined =>
  typeof hint === 'object' ? hint.checkHint : hint;

/** The fields of a failure besides its kind and message. */
interface FailureFields {
  readonly code: string;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  /** The wait before the next attempt, in seconds. */
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  /** What to do next. */
  readonly hint?: Hint | undefined;
  readonly approval?: Approval | undefined;
  /** The raw response, if the call was charged but its response cannot be read. */
  readonly answer?: string | undefined;
  /** The CU that a budget had left when it refused a call of a known price. */
  readonly left?: number | undefined;
  /** The most CU that were charged for answers that were lost. */
  readonly cuLost?: number | undefined;
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
  readonly hint: Hint | undefined;
  readonly approval: Approval | undefined;
  readonly answer: string | undefined;
  readonly left: number | undefined;
  readonly cuLost: number;

  constructor(kind: FailureKind, message: string, fields: FailureFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.kind = kind;
    this.code = fields.code;
    this.status = fields.status;
    this.retryable = fields.retryable ?? false;
    this.retryAfter = fields.retryAfter;
    this.requestId = fields.requestId;
    this.hint = fields.hint;
    this.approval = fields.approval;
    this.answer = fields.answer;
    this.left = fields.left;
    this.cuLost = fields.cuLost ?? 0;
  }
}

/** A failure as it is printed. */
export interface PrintedFailure
  extends Pick<
    Failure,
    'code' | 'message' | 'status' | 'retryable' | 'retryAfter' | 'requestId' | 'approval'
  > {
  readonly hint: string | undefined;
}

/** The fields that are printed, in order. A new field also needs a line in `ErrorInfo`. */
export function printedFields(failure: Failure): PrintedFailure {
  const { code, message, status, retryable, retryAfter, requestId, approval } = failure;
  const hint = hintOf(failure);
  return { code, message, status, retryable, retryAfter, requestId, hint, approval };
}

/** A problem in one line. */
export function messageAndHint(failure: Failure): string {
  const hint = hintOf(failure);
  return hint ? `${failure.message}; ${hint}` : failure.message;
}

/** The same failure with another hint. */
export const withHint = (failure: Failure, hint: Hint): Failure =>
  new Failure(failure.kind, failure.message, { ...failure, cause: failure.cause, hint });

/** The failure of a call of which answers were lost, which may have cost up to `cuLost`. */
export const withLoss = (failure: Failure, cuLost: number): Failure =>
  cuLost === 0
    ? failure
    : new Failure(failure.kind, failure.message, { ...failure, cause: failure.cause, cuLost });

/** What is wrong with the input, and how to correct it. */
export const usageError = (message: string, hint: Hint) =>
  new Failure('usage', message, { code: 'USAGE', hint });
