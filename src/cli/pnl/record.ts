import { Failure } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { FailedSubject, MissingSubject, type PnlRecord } from '../../contract/records/subject.ts';
import type { Outcomes } from '../lookup/tally.ts';

/**
 * Parses a record that trdr wrote. Only the fields that trdr added are validated, because the fields of the
 * service were saved unchanged.
 */
export function readRecord(value: unknown): PnlRecord | undefined {
  if (!isRecord(value)) return undefined;
  const { subject, found } = value;
  if (typeof subject !== 'string') return undefined;
  if (found === true) return { ...value, subject, found };
  const missing = MissingSubject.safeParse(value);
  return missing.success ? missing.data : FailedSubject.safeParse(value).data;
}

/** The outcome of a saved record. */
export const outcomeOf = (record: PnlRecord): Outcomes =>
  record.found === null ? { found: null, failure: failureOf(record) } : record;

/** The failure of a handle, possibly from an earlier run. */
function failureOf({ error }: Extract<PnlRecord, { found: null }>): Failure {
  const { code, message, status, hint } = error;
  const kind = status === 403 ? 'forbidden' : status === 400 ? 'usage' : 'answer';
  return new Failure(kind, message, { code, status, hint });
}
