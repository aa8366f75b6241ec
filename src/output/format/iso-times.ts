import { isRecord } from '../../base/json-object.ts';
import type { Printer, PrinterOptions } from './printing.ts';
import { momentOf } from './time.ts';

/** Matches the paths of fields that contain timestamps. */
const timeName = /(?:^|\.)(?:\w+At|oldest|newest)$/;

/**
 * If `times` is `iso`, wraps a printer so that the timestamps in the fields of the view are printed as ISO 8601
 * in UTC. Tables do not need this, because they format times themselves.
 */
export function withIsoTimes<T>(printer: Printer<T>, { view, format, times }: PrinterOptions<T>): Printer<T> {
  if (times !== 'iso' || format === 'table' || format === 'markdown') return printer;
  const paths = view.fields.filter((path) => timeName.test(path)).map((path) => path.split('.'));
  if (paths.length === 0) return printer;
  // Omit `writeRaw`, because it prints original bytes, with the original timestamps.
  const { writeRaw: _, ...others } = printer;
  return { ...others, write: (record) => printer.write(paths.reduce(converted, record)) };
}

/** A copy of a record with the timestamp at a path converted; the record itself if it has no timestamp there. */
function converted<T>(record: T, [name, ...rest]: readonly string[]): T {
  if (name === undefined || !isRecord(record) || !Object.hasOwn(record, name)) return record;
  const value = record[name];
  if (rest.length > 0) {
    const inner = converted(value, rest);
    return inner === value ? record : { ...record, [name]: inner };
  }
  const moment = typeof value === 'number' ? momentOf(value) : undefined;
  return moment === undefined ? record : { ...record, [name]: new Date(moment).toISOString() };
}
