import { createCsv } from './csv.ts';
import { pickFields } from './fields.ts';
import { withIsoTimes } from './iso-times.ts';
import { createJson } from './json.ts';
import { isPlainLine, jsonLine, lineOf } from './ndjson.ts';
import type { Printer, PrinterOptions } from './printing.ts';

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

function jsonPrinter<T>({ sink, fields, single, terminal }: PrinterOptions<T>): Printer<T> {
  const json = createJson(single ?? false, terminal ?? false);
  return {
    write(record) {
      const text = json.write(fields ? pickFields(record, fields) : record);
      return text === '' ? undefined : sink.write(text);
    },
    async end() {
      await sink.write(json.end());
      await sink.flush();
    },
  };
}

function csvPrinter<T>(options: PrinterOptions<T>): Printer<T> {
  const { sink, view, format, fields, columns, header, terminal, notify } = options;
  const csv = createCsv<T>({
    fields: columns ?? fields ?? view.fields,
    fixed: fields !== undefined || columns !== undefined,
    header,
    terminal,
    tabs: format === 'tsv',
    bom: options.bom,
    onUnknown:
      notify &&
      ((path) =>
        notify(
          `the field ${path} is not in the ${format.toUpperCase()}: it first appeared after the header was written`,
        )),
  });
  return {
    write: (record) => sink.write(csv.line(record)),
    async end() {
      await sink.write(csv.end());
      await sink.flush();
    },
  };
}

/** Creates the printer for a format. Table and chalk modules are loaded only if they are needed. */
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
      return csvPrinter(options);
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
