import type { Period } from './periods.ts';

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

/** What else is known of a failure, for code that decides by it or words its hint. */
export type FailureFacts =
  | BudgetFacts
  | { readonly about: 'profile'; readonly name: string }
  /** The code of an error reply of the store, such as BUSYGROUP. */
  | { readonly about: 'reply'; readonly code: string };

/** The budget that refused a call. The command line words the hint. */
export interface BudgetFacts {
  readonly about: 'budget';
  readonly period: Period;
  /** The machine whose spending the budget limits; undefined if it limits a profile or a key. */
  readonly machine: string | undefined;
  /** The CU that were left when it refused. */
  readonly left: number;
  /** A call of unknown price fits in no budget, however high. */
  readonly isPriceKnown: boolean;
}

/** The fields of a failure besides its kind and message. */
interface FailureFields {
  readonly code: string;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  /** The wait before the next attempt, in seconds. */
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  /** The command to run or the setting to change next. */
  readonly hint?: string | undefined;
  /**
   * The hint for `trdr doctor` and `trdr store check`, if the usual hint would only send the user
   * to them.
   */
  readonly checkHint?: string | undefined;
  readonly facts?: FailureFacts | undefined;
  /** The raw response, if the call was charged but its response cannot be read. */
  readonly answer?: string | undefined;
  readonly cause?: unknown;
}

/** The error class of the program: a kind, a code, and a hint or the facts for one. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;
  readonly code: string;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  readonly hint: string | undefined;
  readonly checkHint: string | undefined;
  readonly facts: FailureFacts | undefined;
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
    this.checkHint = fields.checkHint;
    this.facts = fields.facts;
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

/** The same failure with another hint. */
export const withHint = (failure: Failure, hint: string): Failure =>
  new Failure(failure.kind, failure.message, { ...failure, cause: failure.cause, hint });

/** What is wrong with the input, and how to correct it. */
export const usageError = (message: string, hint: string) =>
  new Failure('usage', message, { code: 'USAGE', hint });
