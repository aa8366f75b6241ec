import { createCsv } from './csv.ts';
import { pick } from './fields.ts';
import { createJson } from './json.ts';
import { isPlainLine, jsonLine, lineOf } from './ndjson.ts';
import type { Sink } from './sink.ts';
import type { View } from './view.ts';

/** The values of `--output`. */
export type Format = 'table' | 'ndjson' | 'json' | 'csv';

/** Everything that decides how records become text. */
export interface PrinterOptions<T> {
  readonly sink: Sink;
  readonly view: View<T>;
  readonly format: Format;
  /** What `parseFields` made of `--fields`. */
  readonly fields?: readonly string[] | undefined;
  /** The command has exactly one answer: a JSON object instead of an array, a card instead of a row. */
  readonly single?: boolean | undefined;
  /** Records trickle in: a table shows each at once. */
  readonly live?: boolean | undefined;
  /** The output is looked at: JSON is spread out, CSV is made safe. */
  readonly terminal?: boolean | undefined;
  /** Cells of the terminal's width; for tables. */
  readonly width?: number | undefined;
  readonly color?: boolean | undefined;
  readonly unicode?: boolean | undefined;
  readonly utc?: boolean | undefined;
  readonly timeZone?: string | undefined;
  readonly now?: (() => number) | undefined;
  /** False where the CSV goes on a file that has its header. */
  readonly header?: boolean | undefined;
  /** The columns that an earlier run gave the CSV. */
  readonly columns?: readonly string[] | undefined;
  /** Takes one-line notices for the user. */
  readonly notify?: ((text: string) => void) | undefined;
}

/** Takes records, and writes them in the form asked for. */
export interface Printer<T> {
  write(record: T): void | Promise<void>;
  /** Writes one record's JSON as it came; there only where nothing has to be read in it. */
  readonly writeRaw?: (json: Uint8Array) => void | Promise<void>;
  /**
   * Writes what was held back (a table's first rows, a lone JSON record) and what closes the document; the sink stays
   * open. To be called after a failure too, wherever what was answered is to be delivered.
   */
  end(): Promise<void>;
}

const LF = Uint8Array.of(10);

function ndjsonPrinter<T>({ sink, fields }: PrinterOptions<T>): Printer<T> {
  const printer: Printer<T> = {
    write: (record) => sink.write(`${jsonLine(fields ? pick(record, fields) : record)}\n`),
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

function jsonPrinter<T>({ sink, fields, single, terminal }: PrinterOptions<T>): Printer<T> {
  const json = createJson(single ?? false, terminal ?? false);
  return {
    write(record) {
      const text = json.write(fields ? pick(record, fields) : record);
      return text === '' ? undefined : sink.write(text);
    },
    async end() {
      await sink.write(json.end());
      await sink.flush();
    },
  };
}

function csvPrinter<T>(options: PrinterOptions<T>): Printer<T> {
  const { sink, view, fields, columns, header, terminal, notify } = options;
  const own = view.csv;
  // Fields of the view's own rows are columns of theirs; any others are looked up in the record.
  const places = own && fields?.map((name) => own.header.indexOf(name));
  const chosen = own && places?.every((place) => place >= 0) ? places : undefined;
  const rows = !own || (fields && !chosen) ? undefined : own.rows;
  const csv = createCsv<T>({
    fields: columns ?? fields ?? own?.header ?? view.fields,
    rows: rows && chosen ? (record) => rows(record).map((row) => chosen.map((place) => row[place])) : rows,
    fixed: fields !== undefined || columns !== undefined,
    header,
    terminal,
    onUnknown:
      notify && ((path) => notify(`The field ${path} has no column: it first came after the header.`)),
  });
  return {
    write: (record) => sink.write(csv.line(record)),
    async end() {
      await sink.write(csv.end());
      await sink.flush();
    },
  };
}

/** A printer for the format asked for. Only tables load what draws them, and chalk only where there is colour. */
export async function createPrinter<T>(options: PrinterOptions<T>): Promise<Printer<T>> {
  switch (options.format) {
    case 'ndjson':
      return ndjsonPrinter(options);
    case 'json':
      return jsonPrinter(options);
    case 'csv':
      return csvPrinter(options);
    case 'table': {
      const { createTablePrinter } = await import('./table-printer.ts');
      return createTablePrinter(options);
    }
  }
}
