import { isRecord } from '../../base/json-object.ts';
import { indentJson } from '../raw-body.ts';
import { createCsvPrinter } from './csv.ts';
import { pickFields } from './fields.ts';
import { isPlainLine, jsonLine, lineOf } from './ndjson.ts';
import type { Printer, PrinterOptions } from './printing.ts';
import { momentOf } from './time.ts';

const LF = Uint8Array.of(10);

function ndjsonPrinter<T>({ sink, fields }: PrinterOptions<T>): Printer<T> {
  const printer: Printer<T> = {
    write: (record) => sink.write(`${jsonLine(fields ? pickFields(record, fields) : record)}\n`),
    end: () => sink.flush(),
  };
  if (fields) return printer;
  return {
    ...printer,
    writeRaw(json) {
      if (!isPlainLine(json)) return sink.write(`${lineOf(json)}\n`);
      const wait = sink.write(json);
      return sink.write(LF) ?? wait;
    },
  };
}

/** One document: an array, or with `single` the only record. */
function jsonPrinter<T>({ sink, fields, single, terminal }: PrinterOptions<T>): Printer<T> {
  let held: string | undefined;
  let open = false;
  const next = (text: string) => {
    const before = open ? ',\n' : '[\n';
    open = true;
    return before + text;
  };
  return {
    write(record) {
      const line = jsonLine(fields ? pickFields(record, fields) : record);
      const text = terminal ? indentJson(line) : line;
      const first = held;
      held = single && !open && first === undefined ? text : undefined;
      if (held === undefined)
        return sink.write((first === undefined ? '' : next(first)) + next(text));
    },
    async end() {
      await sink.write(held === undefined ? (open ? '\n]\n' : '[]\n') : `${held}\n`);
      await sink.flush();
    },
  };
}

/** Table and chalk modules are loaded only if they are needed. */
export async function createPrinter<T>(options: PrinterOptions<T>): Promise<Printer<T>> {
  return withIsoTimes(await printerOf(options), options);
}

async function printerOf<T>(options: PrinterOptions<T>): Promise<Printer<T>> {
  switch (options.format) {
    case 'ndjson':
      return ndjsonPrinter(options);
    case 'json':
      return jsonPrinter(options);
    case 'csv':
    case 'tsv':
      return createCsvPrinter(options);
    case 'markdown': {
      const { createMarkdownPrinter } = await import('./markdown.ts');
      return createMarkdownPrinter(options);
    }
    case 'table': {
      const { createTablePrinter } = await import('./table-printer.ts');
      return createTablePrinter(options);
    }
  }
}

const timeName = /(?:^|\.)(?:\w+At|oldest|newest)$/;

/** Tables need no converted times, because they format times themselves. */
function withIsoTimes<T>(
  printer: Printer<T>,
  { view, format, times }: PrinterOptions<T>,
): Printer<T> {
  if (times !== 'iso' || format === 'table' || format === 'markdown') return printer;
  const paths = view.fields.filter((path) => timeName.test(path)).map((path) => path.split('.'));
  if (paths.length === 0) return printer;
  // `writeRaw` prints original bytes, with the original timestamps.
  const { writeRaw: _, ...others } = printer;
  return { ...others, write: (record) => printer.write(paths.reduce(converted, record)) };
}

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
