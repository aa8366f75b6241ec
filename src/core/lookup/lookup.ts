import { Failure } from '../../base/failure.ts';
import { isRecord, type JsonObject } from '../../base/json-object.ts';
import type { RunAnswers } from '../../contract/answer-ports.ts';
import type { Sent } from '../../contract/read-record.ts';
import { andThen, answerEach, type SubjectList } from './answer-each.ts';
import { readSubject, type Subject, type SubjectType } from './subject.ts';

export type LookupAnswer =
  | { readonly found: true; readonly record: Sent; readonly time: number; readonly from: 'cache' | 'service' }
  | {
      readonly found: false;
      readonly code: string;
      readonly time: number;
      readonly from: 'cache' | 'service';
    }
  | { readonly found: null; readonly failure: Failure };

export type ErrorFields = {
  readonly code: string;
  readonly message: string;
  readonly status?: number;
  readonly retryable?: boolean;
  readonly retryAfter?: number;
  readonly requestId?: string;
  readonly hint?: string;
};

export type LookupRecord =
  | ({ readonly subject: string; readonly found: true } & Sent)
  | { readonly subject: string; readonly found: false; readonly code: string }
  | { readonly subject: string; readonly found: null; readonly error: ErrorFields };

export interface Lookup {
  readonly record: LookupRecord;
  readonly answer: LookupAnswer;
}

export interface LookupOptions {
  /** Returns a failure that affects only this subject; throws other failures. */
  readonly answer: (subject: Subject, signal: AbortSignal) => LookupAnswer | Promise<LookupAnswer>;
  readonly as?: SubjectType | undefined;
  /** How many subjects are looked up concurrently. */
  readonly window?: number | undefined;
  /** How many answers stay in memory for repeated subjects. */
  readonly memory?: number | undefined;
  /** For the oldest answers, which do not fit in memory; closed at the end. Without it, they are dropped. */
  readonly older?: RunAnswers | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MEMORY = 10_000;
/** After so many consecutive failures, the service counts as down, and the remaining subjects are skipped. */
const GIVE_UP_AFTER = 20;

/**
 * Yields one record per subject, in order. A failure that affects one subject becomes a record. One that
 * affects all, such as a rejected key, is thrown after all earlier answers were yielded.
 */
export function lookup(
  subjects: SubjectList,
  { answer, as, window, memory = MEMORY, older, signal }: LookupOptions,
): AsyncGenerator<Lookup, void, void> {
  let failuresInRow = 0;

  function checkOutage(answered: LookupAnswer): LookupAnswer {
    failuresInRow = answered.found === null && isOutage(answered.failure) ? failuresInRow + 1 : 0;
    if (answered.found === null && failuresInRow >= GIVE_UP_AFTER) throw answered.failure;
    return answered;
  }

  return answerEach(
    subjects,
    {
      read: (text) => readSubject(text, as),
      request: (subject, stop) => andThen(answer(subject, stop), checkOutage),
      unread: (failure) => ({ found: null, failure }),
      output: (subject, found) => ({ record: toRecord(subject, found), answer: found }),
    },
    {
      size: memory,
      isWorthKeeping: isPaidFor,
      disk: older && { place: older, write: plainAnswer, read: readPlainAnswer },
    },
    { window, signal },
  );
}

function toRecord(subject: string, answer: LookupAnswer): LookupRecord {
  if (answer.found === null) return { subject, found: null, error: errorFields(answer.failure) };
  return answer.found ? foundRecord(subject, answer.record) : { subject, found: false, code: answer.code };
}

/** Fields of the service cannot overwrite `subject` and `found`, which come first. */
export function foundRecord(subject: string, sent: Sent): LookupRecord & { readonly found: true } {
  const first = { subject, found: true } as const;
  // `{ ...first, ...sent, ...first }` would take V8 ten times as long.
  return Object.assign({ subject, found: true, ...sent }, first);
}

export function errorFields(failure: Failure): ErrorFields {
  const { code, message, status, retryable, retryAfter, requestId, hint } = failure;
  return {
    code,
    message,
    ...(status === undefined ? {} : { status }),
    ...(status === undefined && !retryable ? {} : { retryable }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Throws a failure that affects every subject. */
export function answerOf(error: unknown, now: number): Exclude<LookupAnswer, { found: true }> {
  if (!(error instanceof Failure) || concernsAll(error)) throw error;
  if (error.kind === 'missing') {
    return { found: false, code: error.code, time: now, from: 'service' };
  }
  return { found: null, failure: error };
}

/** The cache can return its own answers again. */
const isPaidFor = (answer: LookupAnswer) => answer.found === null || answer.from === 'service';

/** A failure is not stored: the subject is requested again. */
const plainAnswer = (answer: LookupAnswer) => (answer.found === null ? undefined : answer);

function readPlainAnswer(stored: unknown): LookupAnswer | undefined {
  const { time, code, record }: JsonObject = isRecord(stored) ? stored : {};
  if (typeof time !== 'number') return undefined;
  if (isRecord(record)) return { found: true, record, time, from: 'service' };
  return typeof code === 'string' ? { found: false, code, time, from: 'service' } : undefined;
}

const concernsAll = ({ kind, code }: Failure): boolean =>
  kind === 'auth' ||
  kind === 'quota' ||
  kind === 'limit' ||
  kind === 'rate' ||
  code === 'STORE_AWAY' ||
  (kind === 'forbidden' && code !== 'FORBIDDEN');

const isOutage = ({ kind }: Failure) => kind === 'network' || kind === 'service' || kind === 'answer';
