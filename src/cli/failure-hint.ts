import type { Failure } from '../base/failure.ts';
import { isRecord } from '../base/json-object.ts';
import type { PnlRecord, SubjectRecord, UnaskedSubject } from '../contract/records/subject.ts';
import { type HintWords, hintWords } from './hint-words.ts';

type Hinted = Pick<Failure, 'hint'>;

/** The hint of a failure in words. */
export function hintOf({ hint }: Hinted): string | undefined {
  const words = wordsOf(hint);
  return typeof words === 'object' ? words.hint : words;
}

/** The hint in words for a user who already runs `trdr doctor` or `trdr store check`. */
export function checkHintOf({ hint }: Hinted): string | undefined {
  const words = wordsOf(hint);
  return typeof words === 'object' ? words.checkHint : words;
}

const wordsOf = (hint: Failure['hint']): HintWords | undefined =>
  typeof hint === 'object' ? hintWords(hint) : hint;

/** The record of a failed lookup, with the words of the hint. */
export function wordedRecord<R extends SubjectRecord | PnlRecord | UnaskedSubject>(
  record: R,
  failure: Failure | undefined,
): R {
  if (failure?.facts === undefined || record.found !== null || !isRecord(record['error']))
    return record;
  return { ...record, error: { ...record['error'], hint: hintOf(failure) } };
}

/** A problem in one line. */
export function messageAndHint(failure: Failure): string {
  const hint = hintOf(failure);
  return hint ? `${failure.message}; ${hint}` : failure.message;
}
