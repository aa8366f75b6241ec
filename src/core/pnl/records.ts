import { Failure } from '../../base/failure.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import { listOf, recordsOf, type Sent } from '../../contract/read-record.ts';
import { errorFields, foundRecord, type LookupRecord } from '../lookup/lookup.ts';

export type PnlAnswer = LookupRecord;

/** By default because the handle has no verified link. */
export const missingPnl = (subject: string, code = 'NOT_OBSERVED'): PnlAnswer => ({
  subject,
  found: false,
  code,
});

export const failedPnl = (subject: string, failure: Failure): PnlAnswer => ({
  subject,
  found: null,
  error: errorFields(failure),
});

export interface HandleAnswer {
  readonly record: PnlAnswer;
  /** Present if the answer does not mention the handle. */
  readonly failure?: Failure | undefined;
}

/**
 * In the order of the handles. An entry with an unrequested handle may belong to a renamed trader or to
 * another one, so it is never presented as a requested one. Because it was paid for, it is added to the first
 * handle without an answer, as `unmatched`.
 */
export function answersOf(subjects: readonly string[], batch: Sent): HandleAnswer[] {
  const entries = recordsOf(batch['entries']);
  const byHandle = new Map<string, Sent>();
  for (const entry of entries) {
    const name = textOf(entry['handle']);
    if (name !== undefined && !byHandle.has(normalHandle(name))) byHandle.set(normalHandle(name), entry);
  }
  const missing = new Set(listOf(batch['missing']).map(textOf).filter(isDefined).map(normalHandle));
  const matched = new Set(subjects.map((subject) => byHandle.get(normalHandle(subject))));
  let unmatched = listOf(batch['entries']).filter((entry) => !isRecord(entry) || !matched.has(entry));
  return subjects.map((subject) => {
    const name = normalHandle(subject);
    const entry = byHandle.get(name);
    if (entry) return { record: foundRecord(subject, entry) };
    if (missing.has(name)) return { record: missingPnl(subject) };
    const failure = unaccounted(unmatched);
    const record = failedPnl(subject, failure);
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
  return new Failure('answer', 'the batch answer does not mention this handle', {
    code: 'NO_ENTRY',
    hint:
      others.length > 0
        ? `check with "trdr whois" whether the trader was renamed; the answer contains ${others.map((name) => `@${name.slice(0, 64)}`).join(', ')} instead`
        : 'request this handle alone with "trdr pnl"; this run does not request it again, because it may have been charged',
  });
}
