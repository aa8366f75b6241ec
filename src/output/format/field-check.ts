import { usageError } from '../../base/failure.ts';
import { isKnownField, isObject, locate } from './fields.ts';
import type { Printer, PrinterOptions } from './printing.ts';

/**
 * Checks the names of `--fields` that the description does not list against the first record: the service may send more
 * than it describes. A run with a name that is nowhere ends there, before more is paid for.
 */
export function withFieldCheck<T>(printer: Printer<T>, { view, fields }: PrinterOptions<T>): Printer<T> {
  const known = [...view.fields, ...(view.csv?.header ?? [])];
  const open = fields?.filter((name) => !isKnownField(name, known)) ?? [];
  if (open.length === 0) return printer;
  let checked = false;
  const { writeRaw: _, ...others } = printer;
  return {
    ...others,
    write(record) {
      if (!checked && isAnswer(record)) {
        const absent = open.find((name) => !locate(record, name));
        if (absent !== undefined) throw unknownField(absent, known);
        checked = true;
      }
      return printer.write(record);
    },
  };
}

/** A subject that was not found has no fields of the service. */
const isAnswer = (record: unknown): boolean =>
  isObject(record) && (!Object.hasOwn(record, 'found') || record['found'] === true);

const unknownField = (name: string, known: readonly string[]) =>
  usageError(
    `unknown field ${JSON.stringify(name)}: the first record does not have it`,
    `known fields: ${known.join(', ')}`,
  );
