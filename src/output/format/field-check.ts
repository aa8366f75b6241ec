import { usageError } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { isKnownField, locate } from './fields.ts';
import type { Printer, PrinterOptions } from './printing.ts';

/**
 * Accepts names in `--fields` that the schema does not list, because the service may send undocumented
 * fields. If the first record does not have such a field, the run ends before it pays for further calls.
 */
export function withFieldCheck<T>(printer: Printer<T>, { view, fields }: PrinterOptions<T>): Printer<T> {
  if (fields === undefined) return printer;
  const known = [...view.fields, ...(view.csv?.header ?? [])];
  const unlisted = fields.filter((name) => !isKnownField(name, known));
  if (unlisted.length === 0) return printer;
  let checked = false;
  const { writeRaw: _, ...others } = printer;
  return {
    ...others,
    write(record) {
      if (!checked && isAnswer(record)) {
        const absent = unlisted.find((name) => !locate(record, name));
        if (absent !== undefined) throw unknownField(absent, known);
        checked = true;
      }
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

const unknownField = (name: string, known: readonly string[]) =>
  usageError(
    `unknown field ${JSON.stringify(name)}: the first record does not have it`,
    `available fields: ${known.join(', ')}`,
  );
