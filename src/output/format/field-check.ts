import { Failure, usageError } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import type { View } from '../view.ts';
import { isKnownField, locate } from './fields.ts';
import type { Printer, PrinterOptions } from './printing.ts';

/**
 * Creates a check for the names in `--fields` that the schema does not list. They may be undocumented fields of
 * the service, so the check looks for them in the first record that contains an answer of the service, and
 * returns a failure if one of them is absent. Undefined if there are no such names, or the view is `checked`.
 */
export function createFieldCheck(
  view: Pick<View<never>, 'fields' | 'csv' | 'checked'>,
  fields: readonly string[] | undefined,
): ((record: unknown) => Failure | undefined) | undefined {
  // Read the names in the schema only if needed, because reading them loads all schemas.
  if (fields === undefined || view.checked) return undefined;
  const known = [...view.fields, ...(view.csv?.header ?? [])];
  const unlisted = fields.filter((name) => !isKnownField(name, known));
  if (unlisted.length === 0) return undefined;
  let isChecked = false;
  return (record) => {
    if (isChecked || !isAnswer(record)) return undefined;
    isChecked = true;
    const absent = unlisted.find((name) => !locate(record, name));
    return absent === undefined ? undefined : unknownField(absent, known);
  };
}

/**
 * Makes a printer fail if the first record lacks a field of `--fields`, before the run pays for further
 * calls.
 */
export function withFieldCheck<T>(printer: Printer<T>, { view, fields }: PrinterOptions<T>): Printer<T> {
  const check = createFieldCheck(view, fields);
  if (!check) return printer;
  const { writeRaw: _, ...others } = printer;
  return {
    ...others,
    write(record) {
      const failure = check(record);
      if (failure) throw failure;
      return printer.write(record);
    },
  };
}

/**
 * Whether a record contains an answer of the service. The record of a subject that was not found has no
 * fields of the service.
 */
const isAnswer = (record: unknown): boolean =>
  isRecord(record) && (!Object.hasOwn(record, 'found') || record['found'] === true);

const absentFields = new WeakSet<Failure>();

/** Whether an error means that the first record does not have a field of `--fields`. */
export const isAbsentField = (error: unknown): error is Failure =>
  error instanceof Failure && absentFields.has(error);

function unknownField(name: string, known: readonly string[]): Failure {
  const failure = usageError(
    `unknown field ${JSON.stringify(name)}: the first record does not have it`,
    `available fields: ${known.join(', ')}`,
  );
  absentFields.add(failure);
  return failure;
}
