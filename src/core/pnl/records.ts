import { Failure } from '../../base/failure.ts';
import { normalHandle } from '../../contract/endpoints.ts';
import { isRecord, listOf, recordsOf, type Sent, textOf } from '../../contract/known.ts';
import { errorFields, type LookupRecord } from '../lookup/lookup.ts';

/** What is known of one handle. */
export type PnlAnswer = LookupRecord;

/** The numbers of a handle, under the spelling in which it was asked about. */
export function foundPnl(subject: string, pnl: Sent): PnlAnswer {
  // They stand first, and no field of the service's takes their place.
  const first = { subject, found: true } as const;
  return { ...first, ...pnl, ...first };
}

/** A handle without a verified link. */
export const missingPnl = (subject: string, code = 'NOT_OBSERVED'): PnlAnswer => ({
  subject,
  found: false,
  code,
});

/** A handle whose numbers could not be had. */
export const failedPnl = (subject: string, failure: Failure): PnlAnswer => ({
  subject,
  found: null,
  error: errorFields(failure),
});

/** What a batch answer says of one handle. */
export interface HandleAnswer {
  readonly record: PnlAnswer;
  /** Set where it says nothing. */
  readonly failure?: Failure | undefined;
}

/**
 * The answers of a batch in the order of its handles. Entries are matched by their handles alone: one under
 * another handle may be a trader who was renamed, or another trader. It was paid for, so the first handle
 * without an answer carries it, as `unmatched`, and nobody's numbers pass for somebody else's.
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
    if (entry) return { record: foundPnl(subject, entry) };
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
        ? `the answer also has ${others.map((name) => `@${name.slice(0, 64)}`).join(', ')}: trdr whois tells whether the trader was renamed`
        : 'it is not requested again in this run, because it may have been charged',
  });
}
