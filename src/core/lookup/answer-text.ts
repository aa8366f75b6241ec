import { Failure, type FailureFields, type FailureKind } from '../../base/failure.ts';
import { parseJson, stringifyJson } from '../../base/json.ts';

/** A failure as plain fields. */
interface SavedFailure extends FailureFields {
  readonly kind: FailureKind;
  readonly message: string;
}

/**
 * Converts an answer of this run to text for the temporary file, with all digits of numbers and the printed
 * fields of failures.
 */
export function writeAnswer(answer: object): string {
  const failure = 'failure' in answer && answer.failure instanceof Failure ? answer.failure : undefined;
  return stringifyJson(failure ? { ...answer, failure: fieldsOfFailure(failure) } : answer);
}

/** Parses the text that `writeAnswer` wrote in the same run. */
export function readSavedAnswer<T extends object>(text: string): T {
  // This cast is safe: the text comes from `writeAnswer`, and no other process can open the temporary file.
  const saved = parseJson(text) as T & { readonly failure?: SavedFailure };
  if (!saved.failure) return saved;
  const { kind, message, ...fields } = saved.failure;
  return { ...saved, failure: new Failure(kind, message, fields) };
}

function fieldsOfFailure(failure: Failure): SavedFailure {
  const { kind, message, code, status, retryable, retryAfter, requestId, hint } = failure;
  return { kind, message, code, status, retryable, retryAfter, requestId, hint };
}
