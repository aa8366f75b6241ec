import { Failure, printedFields } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { trimText } from '../../base/trim-text.ts';
import {
  type Claim,
  type RunAnswers,
  type SharedAnswer,
  withClaim,
} from '../../contract/ports/answers.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { Provenance } from '../../contract/records/provenance.ts';
import type {
  FoundSubject,
  MissingSubject,
  SubjectRecord,
  UnaskedSubject,
} from '../../contract/records/subject.ts';
import { ordered } from './ordered.ts';
import { readSubject, type Subject, subjectKey } from './subject.ts';

type Obtained = { readonly time: number; readonly from: Provenance['via'] };

/** What the service holds under a name, or that it holds nothing. */
export type HeldAnswer =
  | (Obtained & {
      readonly found: true;
      readonly record: Sent;
      /** A plain lookup (held), a resolve that needed no live search (cached), or a live search. */
      readonly source?: 'held' | 'cached' | 'live';
      /** What ended the reading of the record early: it is delivered, but not complete. */
      readonly failure?: unknown;
    })
  | (Obtained & {
      readonly found: false;
      readonly code: string;
      readonly pending?: PendingState;
    });

export type LookupAnswer = HeldAnswer | { readonly found: null; readonly failure: Failure };

/** The answer with this record, or without one if the service held nothing. */
export const heldAnswer = (
  record: Sent | null,
  time: number,
  from: Provenance['via'],
): HeldAnswer =>
  record === null
    ? { found: false, code: 'NOT_OBSERVED', time, from }
    : { found: true, record, time, from };

/** Takes the answer or the failure of another machine, or asks while the others wait. */
export async function askTogether(
  claim: Claim | undefined,
  read: (answer: SharedAnswer) => LookupAnswer | undefined | Promise<LookupAnswer | undefined>,
  ask: () => Promise<LookupAnswer>,
  outcomeOf = (answer: LookupAnswer): SharedAnswer | Failure | undefined =>
    answer.found === null ? answer.failure : undefined,
): Promise<LookupAnswer> {
  if (claim?.by === 'other' && claim.failure) return { found: null, failure: claim.failure };
  const shared = claim?.by === 'cache' ? await read(claim.answer) : undefined;
  return shared ?? (await withClaim(claim, ask, outcomeOf));
}

/** The code of a wallet for which only the cheap ways were tried. */
export const NOT_ASKED = 'NOT_ASKED';

export interface PendingState {
  readonly reason: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | undefined;
  readonly position?: number | undefined;
  /** All fields of the answer, except `pending`. */
  readonly sent: Sent;
}

export interface Lookup {
  readonly record: SubjectRecord | UnaskedSubject;
  readonly answer: LookupAnswer;
}

interface LookupOptions {
  /** Returns a failure that affects only this subject; throws other failures. */
  readonly answer: (subject: Subject, signal: AbortSignal) => LookupAnswer | Promise<LookupAnswer>;
  readonly read?: (text: string) => Subject | Promise<Subject>;
  readonly memory?: number;
  /**
   * Keeps the oldest answers, which do not fit in memory; closed at the end. Without it, they are
   * dropped.
   */
  readonly older?: RunAnswers | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MEMORY = 10_000;
/**
 * After so many consecutive failures, the service counts as down, and the remaining subjects are
 * skipped.
 */
const GIVE_UP_AFTER = 20;

/**
 * Looks up each distinct subject once. A failure that affects all is thrown after all earlier
 * answers.
 */
export function lookup(
  subjects: AsyncIterable<string | Subject> | Iterable<string | Subject>,
  options: LookupOptions,
): AsyncGenerator<Lookup, void, void> {
  const { read = readSubject, older, signal } = options;
  const answers = new SubjectAnswers(options);

  async function readAndFind(text: string, stop: AbortSignal): Promise<Lookup> {
    let subject: Subject;
    try {
      subject = await read(text);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return resultOf(trimText(text), { found: null, failure: error });
    }
    return answers.find(subject, stop);
  }

  const find = (subject: string | Subject, stop: AbortSignal) =>
    typeof subject === 'string' ? readAndFind(subject, stop) : answers.find(subject, stop);
  return ordered(subjects, find, { signal, end: older && (() => older.close()) });
}

/**
 * The answers of a run. A subject that is repeated, however far apart, is not requested again,
 * because each request costs money.
 */
class SubjectAnswers {
  readonly #answer: LookupOptions['answer'];
  readonly #memory: number;
  readonly #older: RunAnswers | undefined;
  readonly #held = new Map<string, LookupAnswer | Promise<LookupAnswer>>();
  #failuresInRow = 0;

  constructor({ answer, memory = MEMORY, older }: LookupOptions) {
    this.#answer = answer;
    this.#memory = memory;
    this.#older = older;
  }

  /** A result that is known at once needs no promise, which makes cached lookups faster. */
  find(subject: Subject, stop: AbortSignal): Lookup | Promise<Lookup> {
    const answered = this.#answerFor(subject, stop);
    return answered instanceof Promise
      ? answered.then((answer) => resultOf(subject.text, answer))
      : resultOf(subject.text, answered);
  }

  #answerFor(subject: Subject, stop: AbortSignal): LookupAnswer | Promise<LookupAnswer> {
    const key = subjectKey(subject);
    const stored = this.#held.get(key) ?? this.#older?.get(key);
    if (stored instanceof Promise || isAnswer(stored)) return stored;
    this.#makeRoom();
    const asked = this.#answer(subject, stop);
    if (!(asked instanceof Promise)) return this.#settle(key, asked);
    const settled = asked.then((answer) => this.#settle(key, answer));
    this.#held.set(key, settled);
    return settled;
  }

  #settle(key: string, answer: LookupAnswer): LookupAnswer {
    // The cache can return its own answers again.
    if (answer.found === null || answer.from === 'service') this.#held.set(key, answer);
    else this.#held.delete(key);
    if (answer.found !== null || !isOutage(answer.failure)) this.#failuresInRow = 0;
    else if (++this.#failuresInRow >= GIVE_UP_AFTER) throw answer.failure;
    return answer;
  }

  /**
   * If the disk is full, answers stay in memory, because requesting them again would cost money.
   */
  #makeRoom(): void {
    for (const [key, known] of this.#held) {
      if (this.#held.size < this.#memory) return;
      if (known instanceof Promise) continue;
      if (known.found !== null && this.#older?.put(key, known) === false) return;
      this.#held.delete(key);
    }
  }
}

/** Another program may have changed a stored answer. */
const isAnswer = (stored: unknown): stored is LookupAnswer =>
  isRecord(stored) &&
  (stored['found'] === null ||
    (typeof stored['time'] === 'number' &&
      (stored['found'] === true
        ? isRecord(stored['record'])
        : typeof stored['code'] === 'string')));

function resultOf(subject: string, answer: LookupAnswer): Lookup {
  if (answer.found === null) {
    const { failure } = answer;
    const record =
      failure.code === NOT_ASKED ? unaskedRecord(subject) : failedRecord(subject, failure);
    return { record, answer };
  }
  if (!answer.found) {
    const record = missingRecord(subject, answer.code, readingOf(answer));
    return { record: answer.pending ? pendingRecord(record, answer.pending) : record, answer };
  }
  const { source, record } = answer;
  const reading = readingOf(answer);
  if (source === undefined) return { record: foundRecord(subject, record, reading), answer };
  const resolved = foundRecord(subject, { source, ...record }, reading);
  return { record: Object.assign(resolved, { source }), answer };
}

export const readingOf = ({ time, from }: Obtained): Provenance => ({ readAt: time, via: from });

/**
 * Fields of the service cannot overwrite those of trdr: `subject` and `found`, which come first,
 * and the reading.
 */
export function foundRecord(subject: string, sent: Sent, reading?: Provenance): FoundSubject {
  const first = { subject, found: true } as const;
  // `{ ...first, ...sent, ...first }` would take V8 ten times as long.
  return Object.assign({ subject, found: true, ...sent }, first, reading);
}

/** The record of a subject that was not found, by default because it has no verified link. */
export const missingRecord = (subject: string, code = 'NOT_OBSERVED', reading?: Provenance) =>
  ({ subject, found: false, code, ...reading }) as const;

/**
 * The record of a resolve without an answer. Fields of the service cannot overwrite those of trdr.
 */
function pendingRecord(missing: MissingSubject, { reason, retryable, sent }: PendingState) {
  const { subject, found, code } = missing;
  return Object.assign({ subject, found, code, reason, retryable, ...sent }, missing);
}

/** The record of a failed lookup. */
export function failedRecord(subject: string, failure: Failure) {
  const { status, retryable } = failure;
  const error = {
    ...printedFields(failure),
    retryable: status !== undefined || retryable ? retryable : undefined,
  };
  return { subject, found: null, error } as const;
}

/** Throws a failure that affects every subject. */
export function answerOf(error: unknown, now: number): Exclude<LookupAnswer, { found: true }> {
  if (!(error instanceof Failure) || concernsAll(error)) throw error;
  if (error.kind === 'missing')
    return { found: false, code: error.code, time: now, from: 'service' };
  return { found: null, failure: error };
}

const unaskedRecord = (subject: string) => ({ subject, found: null, code: NOT_ASKED }) as const;

const concernsAll = ({ kind, code }: Failure): boolean =>
  kind === 'auth' ||
  kind === 'quota' ||
  kind === 'limit' ||
  kind === 'rate' ||
  code === 'STORE_AWAY' ||
  (kind === 'forbidden' && code !== 'FORBIDDEN');

const isOutage = ({ kind }: Failure) =>
  kind === 'network' || kind === 'service' || kind === 'answer';
