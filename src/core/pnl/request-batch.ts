import { Failure } from '../../base/failure.ts';
import { parseJson, stringifyJson } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { unitsText } from '../../base/units.ts';
import { bareHandle, normalHandle } from '../../contract/handles.ts';
import { withClaim } from '../../contract/ports/answers.ts';
import type { CallOptions, Client } from '../../contract/ports/client.ts';
import type { RowValue } from '../../contract/ports/rows.ts';
import { listOf, type Sent } from '../../contract/read-record.ts';
import { recognize } from '../../contract/record-types.ts';
import type { Provenance } from '../../contract/records/provenance.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { DIFFERENT_SERVICE } from '../client/service-errors.ts';
import { answerOf, failedRecord, foundRecord, missingRecord } from '../lookup/lookup.ts';
import { entriesByHandle, missingHandles, type SavedNumbers } from './cached-numbers.ts';

interface HandleAnswer {
  readonly record: PnlRecord;
  /** Present if the answer does not mention the handle. */
  readonly failure?: Failure | undefined;
}

/** The result of a row of a run. */
export interface NumbersResult extends RowValue<PnlRecord> {
  readonly failure?: Failure | undefined;
}

export interface BatchAnswer {
  readonly answers: readonly HandleAnswer[];
  /** Caches the answer. An export first writes it to its journal. */
  readonly save: () => Promise<void>;
}

type Caller = Pick<Client, 'call'>;

interface RequestOptions extends CallOptions {
  readonly now: () => number;
  readonly saved?: SavedNumbers | undefined;
}

const readNow = ({ now }: Pick<RequestOptions, 'now'>): Provenance => ({
  readAt: now(),
  via: 'service',
});

/** A failure that affects only this handle is returned as its answer. */
export async function requestOne(
  client: Caller,
  subject: string,
  options: RequestOptions,
): Promise<HandleAnswer> {
  const claim = await options.saved?.claim(subject, undefined, options.signal);
  if (claim?.by === 'cache') return { record: claim.record };
  if (claim?.by === 'other' && claim.failure) return failed(subject, claim.failure);
  return await withClaim(
    claim,
    () => requestAlone(client, subject, options),
    ({ failure }) => failure,
  );
}

async function requestAlone(
  client: Caller,
  subject: string,
  options: RequestOptions,
): Promise<HandleAnswer> {
  try {
    const { answers, save } = await single(client, subject, options);
    await save();
    return { record: answers[0]?.record ?? missingRecord(subject, undefined, readNow(options)) };
  } catch (error) {
    const answer = answerOf(error, 0);
    if (answer.found !== null) throw error;
    return failed(subject, answer.failure);
  }
}

const failed = (subject: string, failure: Failure): HandleAnswer => ({
  record: failedRecord(subject, failure),
  failure,
});

/** Requests some handles in one call; with `alone`, the only one without a batch. */
export const requestBatch = (
  client: Caller,
  subjects: readonly string[],
  { alone, ...options }: RequestOptions & { readonly alone: boolean },
): Promise<BatchAnswer> =>
  alone ? single(client, subjects[0] ?? '', options) : batch(client, subjects, options);

async function single(
  client: Caller,
  subject: string,
  { saved, now, ...options }: RequestOptions,
): Promise<BatchAnswer> {
  try {
    const ask = { params: { handle: bareHandle(subject) } };
    const { record } = await client.call('user.pnl', ask, options);
    const reading = readNow({ now });
    const save = async () => saved?.saveOne(subject, record, reading.readAt);
    return { answers: [{ record: foundRecord(subject, record, reading) }], save };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'missing') throw error;
    const { code } = error;
    // Other codes do not mean that the handle has no numbers.
    const reading = readNow({ now });
    const save = async () =>
      code === 'NOT_OBSERVED' ? saved?.saveMiss(subject, reading.readAt) : undefined;
    return { answers: [{ record: missingRecord(subject, code, reading) }], save };
  }
}

async function batch(
  client: Caller,
  subjects: readonly string[],
  { saved, now, ...options }: RequestOptions,
): Promise<BatchAnswer> {
  const ask = { body: { handles: subjects.map(bareHandle) } };
  const { record, requestId } = await client.call('users.pnl', ask, options);
  if (listOf(record['entries']).length + listOf(record['missing']).length === 0) {
    throw new Failure('answer', 'the batch answer does not mention any requested handle', {
      code: 'NO_ENTRY',
      status: 200,
      requestId,
      hint: DIFFERENT_SERVICE,
      answer: stringifyJson(record),
    });
  }
  const reading = readNow({ now });
  const save = async () => saved?.saveBatch(subjects, record, reading.readAt);
  return { answers: answersOf(subjects, record, reading), save };
}

/** An answer that an earlier run saved without being able to parse it. */
export function answerFromJournal(
  subjects: readonly string[],
  text: string,
): readonly HandleAnswer[] {
  const body = parseJson(text);
  const whole = recognize('batch', body);
  if (whole) return answersOf(subjects, whole.record);
  const [only] = subjects;
  const one = only === undefined || subjects.length > 1 ? undefined : recognize('numbers', body);
  if (only === undefined || !one) return [];
  const name = textOf(one.record['handle']) ?? only;
  return normalHandle(name) === normalHandle(only)
    ? [{ record: foundRecord(only, one.record) }]
    : [];
}

/** A whole batch may have been rejected because of one of its handles. Nothing was charged. */
export const isRejected = (error: unknown): error is Failure =>
  error instanceof Failure &&
  ((error.kind === 'usage' && error.status === 400) ||
    (error.kind === 'forbidden' && error.code === 'FORBIDDEN'));

export function lostFailure(cause: Failure): Failure {
  const { kind, code, message, status, requestId, answer, cuLost } = cause;
  return new Failure(kind, `${message}; the call may have cost up to ${unitsText(cuLost)}`, {
    code,
    status,
    requestId,
    hint: 'trdr does not repeat this request in this run, because it might be charged twice; to repeat it, run the command again (with --resume if it writes to a file)',
    answer,
    cause,
  });
}

/**
 * An entry with an unrequested handle was paid for but may be of another trader, so it is only kept
 * as `unmatched`.
 */
function answersOf(subjects: readonly string[], batch: Sent, reading?: Provenance): HandleAnswer[] {
  const byHandle = entriesByHandle(batch);
  const missing = new Set(missingHandles(batch));
  const matched = new Set(subjects.map((subject) => byHandle.get(normalHandle(subject))));
  let unmatched = listOf(batch['entries']).filter(
    (entry) => !isRecord(entry) || !matched.has(entry),
  );
  return subjects.map((subject) => {
    const name = normalHandle(subject);
    const entry = byHandle.get(name);
    if (entry) return { record: foundRecord(subject, entry, reading) };
    if (missing.has(name)) return { record: missingRecord(subject, undefined, reading) };
    const failure = unaccounted(unmatched);
    const record = failedRecord(subject, failure);
    const carried = unmatched;
    unmatched = [];
    if (record.found !== null || carried.length === 0) return { record, failure };
    return { record: { ...record, error: { ...record.error, unmatched: carried } }, failure };
  });
}

const isDefined = <T>(value: T | undefined): value is T => value !== undefined;

function unaccounted(unmatched: readonly unknown[]): Failure {
  const names = unmatched.map((entry) => (isRecord(entry) ? textOf(entry['handle']) : undefined));
  const others = names.filter(isDefined).slice(0, 3);
  const handles = others.map((name) => `@${name.slice(0, 64)}`).join(', ');
  return new Failure('answer', 'the batch answer does not mention this handle', {
    code: 'NO_ENTRY',
    hint:
      handles === ''
        ? 'request this handle alone with "trdr pnl"; this run does not request it again, because it may have been charged'
        : `check with "trdr whois" whether the trader was renamed; the answer contains ${handles} instead`,
  });
}
