import { copySources } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { indentJson } from '../raw-body.ts';
import { CsvPrinter } from './csv.ts';
import { pickFields } from './fields.ts';
import { isPlainLine, jsonLine, lineOf } from './ndjson.ts';
import type { Printer, PrinterOptions } from './printing.ts';
import { momentOf } from './time.ts';

const LF = Uint8Array.of(10);

/** Prints one compact object per line. */
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

/** Prints one document: an array, or with `single` the only record. */
class JsonPrinter<T> implements Printer<T> {
  readonly #options: PrinterOptions<T>;
  /** The first record of a run that has exactly one, until a second one shows that it has not. */
  #only: string | undefined;
  #isOpen = false;

  constructor(options: PrinterOptions<T>) {
    this.#options = options;
  }

  write(record: T): void | Promise<void> {
    const { sink, fields, single, terminal } = this.#options;
    const line = jsonLine(fields ? pickFields(record, fields) : record);
    const text = terminal ? indentJson(line) : line;
    const before = this.#only;
    this.#only = undefined;
    if (single && !this.#isOpen && before === undefined) {
      this.#only = text;
      return;
    }
    const first = before === undefined ? '' : this.#item(before);
    return sink.write(first + this.#item(text));
  }

  async end(): Promise<void> {
    const { sink } = this.#options;
    const rest = this.#isOpen ? '\n]\n' : '[]\n';
    await sink.write(this.#only === undefined ? rest : `${this.#only}\n`);
    await sink.flush();
  }

  #item(text: string): string {
    const before = this.#isOpen ? ',\n' : '[\n';
    this.#isOpen = true;
    return before + text;
  }
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
      return new JsonPrinter(options);
    case 'csv':
    case 'tsv':
      return new CsvPrinter(options);
    case 'markdown': {
      const { MarkdownPrinter } = await import('./markdown.ts');
      return new MarkdownPrinter(options);
    }
    case 'table': {
      const { openTablePrinter } = await import('./table-printer.ts');
      return await openTablePrinter(options);
    }
  }
}

/**
 * The names of times: a test compares them with what the records say.
 * @internal Exported for tests.
 */
export const timeName = /(?:^|\.)(?:\w*At|at|\w*[oO]ldest|newest|from|to)$/;

/** Tables need no converted times, because they format times themselves. */
function withIsoTimes<T>(
  printer: Printer<T>,
  { view, format, times }: PrinterOptions<T>,
): Printer<T> {
  if (times !== 'iso' || format === 'table' || format === 'markdown') return printer;
  const paths = view.fields().map((path) => path.split('.'));
  // There is no `writeRaw`: it prints original bytes, with the original timestamps.
  return {
    write: (record) => printer.write(paths.reduce(converted, record)),
    end: () => printer.end(),
  };
}

function converted<T>(record: T, [name, ...rest]: readonly string[]): T {
  if (name === undefined || !isRecord(record) || !Object.hasOwn(record, name)) return record;
  const value = record[name];
  if (rest.length > 0) {
    const inner = converted(value, rest);
    return inner === value ? record : { ...record, [name]: inner };
  }
  if (Array.isArray(value)) return { ...record, [name]: convertedItems(value) };
  const moment = timeName.test(name) && typeof value === 'number' ? momentOf(value) : undefined;
  return moment === undefined ? record : { ...record, [name]: new Date(moment).toISOString() };
}

/** The schema of a list has no paths, so that the names of its members decide. */
function convertedItems(list: readonly unknown[]): readonly unknown[] {
  const items = list.map((item) =>
    isRecord(item) ? Object.keys(item).reduce((one, name) => converted(one, [name]), item) : item,
  );
  return copySources(items, list);
}
