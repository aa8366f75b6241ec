import { isObject } from './fields.ts';
import type { Printer, PrinterOptions } from './printing.ts';
import { momentOf } from './time.ts';

/** Names of timestamps among the fields that a description lists. */
const timeName = /(?:^|\.)(?:\w+At|oldest|newest)$/;

/** Writes the known timestamps of each record as ISO 8601 in UTC; tables show times in a form of their own. */
export function withIsoTimes<T>(printer: Printer<T>, { view, format, times }: PrinterOptions<T>): Printer<T> {
  if (times !== 'iso' || format === 'table' || format === 'markdown') return printer;
  const paths = view.fields.filter((path) => timeName.test(path)).map((path) => path.split('.'));
  if (paths.length === 0) return printer;
  // A record's own bytes hold its times as they came.
  const { writeRaw: _, ...others } = printer;
  return { ...others, write: (record) => printer.write(paths.reduce(converted, record)) };
}

/** A copy of a record with one timestamp converted; the record itself without one at the path. */
function converted<T>(record: T, [name, ...rest]: readonly string[]): T {
  if (name === undefined || !isObject(record) || !Object.hasOwn(record, name)) return record;
  const value = record[name];
  if (rest.length > 0) {
    const inner = converted(value, rest);
    return inner === value ? record : { ...record, [name]: inner };
  }
  const moment = typeof value === 'number' ? momentOf(value) : undefined;
  return moment === undefined ? record : { ...record, [name]: new Date(moment).toISOString() };
}
