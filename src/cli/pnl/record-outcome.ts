import { Failure, type FailureKind } from '../../base/failure.ts';
import type { FailedSubject, PnlRecord } from '../../contract/records/subject.ts';
import type { LookupOutcome } from '../lookup/tally.ts';

/** What the tally counts of a record, which may be one that an earlier run has saved. */
export const outcomeOf = (record: PnlRecord): LookupOutcome =>
  record.found === null ? { found: null, failure: failureOf(record) } : record;

function failureOf({ error }: FailedSubject): Failure {
  const { code, message, status, hint } = error;
  return new Failure(kindByStatus(status), message, { code, status, hint });
}

function kindByStatus(status: number | undefined): FailureKind {
  if (status === 403) return 'forbidden';
  return status === 400 ? 'usage' : 'answer';
}
