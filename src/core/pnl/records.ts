import type { Failure } from '../../base/failure.ts';
import { normalHandle } from '../../contract/endpoints.ts';
import type { Pnl, PnlBatch } from '../../contract/records/pnl.ts';
import { errorFields, type LookupRecord } from '../lookup/lookup.ts';

/** What is known of one handle. */
export type PnlAnswer = LookupRecord<Pnl>;

/** The numbers of a handle, under the spelling in which it was asked about. */
export function foundPnl(subject: string, pnl: Pnl): PnlAnswer {
  // They stand first, and no field of the service's takes their place.
  const first = { subject, found: true } as const;
  return { ...first, ...pnl, ...first };
}

/** A handle of which no link is held. */
export const missingPnl = (subject: string, code = 'NOT_OBSERVED'): PnlAnswer => ({
  subject,
  found: false,
  code,
});

/** A handle about which nothing could be learnt. */
export const failedPnl = (subject: string, failure: Failure): PnlAnswer => ({
  subject,
  found: null,
  error: errorFields(failure),
});

/**
 * The answers of a batch in the order of its handles. Entries are told by their handles; one that has
 * been renamed comes under its new name, and is told by its place among those that are left over.
 */
export function answersOf(subjects: readonly string[], { entries, missing }: PnlBatch): PnlAnswer[] {
  const byHandle = new Map(entries.map((entry) => [normalHandle(entry.handle), entry]));
  const absent = new Set(missing.map(normalHandle));
  const matched = new Set<Pnl>();
  const found = subjects.map((subject) => {
    const name = normalHandle(subject);
    const entry = absent.has(name) ? undefined : byHandle.get(name);
    if (entry) matched.add(entry);
    return entry;
  });
  const open = subjects.filter((subject, at) => !found[at] && !absent.has(normalHandle(subject)));
  const spare = entries.filter((entry) => !matched.has(entry));
  const renamed = open.length === spare.length ? spare : [];
  let next = 0;
  return subjects.map((subject, at) => {
    const entry = found[at];
    if (entry) return foundPnl(subject, entry);
    if (absent.has(normalHandle(subject))) return missingPnl(subject);
    const other = renamed[next++];
    if (other) return foundPnl(subject, other);
    const message = 'the answer of the batch says nothing of this handle';
    return { subject, found: null, error: { code: 'NO_ENTRY', message } };
  });
}
