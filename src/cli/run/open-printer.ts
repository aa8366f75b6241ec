import { extname } from 'node:path';
import { usageError } from '../../base/failure.ts';
import type { DiskWait } from '../../output/disk-wait.ts';
import type { Printer, PrinterOptions } from '../../output/format/printing.ts';
import { createSink, fileIn, type Retry, type Sink } from '../../output/sink.ts';
import type { View } from '../../output/view.ts';
import type { Globals, OutputFormat } from '../args/common.ts';
import type { Io } from '../io.ts';
import type { Settings } from '../settings/settings.ts';
import type { Terminal } from './terminal.ts';

const endings: Readonly<Record<string, OutputFormat>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
  md: 'markdown',
  markdown: 'markdown',
};

/**
 * The format for the extension of a file. A number, as in `out.1`, does not count as an extension.
 */
function formatByName(path: string | undefined): OutputFormat | undefined {
  if (path === undefined) return undefined;
  const extension = /^\.([a-z]\w*)$/i.exec(extname(path))?.[1]?.toLowerCase();
  if (extension === undefined) return undefined;
  const format = endings[extension];
  if (format !== undefined) return format;
  throw usageError(
    `unknown extension ".${extension}" of --out`,
    `use the extension ${Object.keys(endings)
      .map((ending) => `.${ending}`)
      .join(', ')}, or set the format with -o`,
  );
}

export function formatOf(
  globals: Pick<Globals, 'json' | 'output' | 'out' | 'bom'>,
  setting: OutputFormat | undefined,
  isTerminal: boolean,
  command: { readonly path: string; readonly stream?: boolean | undefined },
): OutputFormat {
  const { json, output, out, bom } = globals;
  if (json && output !== undefined && output !== 'json') {
    throw usageError(`--json and -o ${output} cannot be combined`, 'use one of them');
  }
  const asked = output ?? (json ? 'json' : formatByName(out));
  if (command.stream && asked === 'json') {
    throw usageError(
      `"trdr ${command.path}" prints records as they arrive, so its output cannot be a JSON document`,
      'use -o ndjson',
    );
  }
  // A tail cannot print a JSON document, and a file contains a table only if a flag requests it.
  const preferred = command.stream && setting === 'json' ? 'ndjson' : setting;
  const fallback = preferred ?? (out === undefined && isTerminal ? 'table' : 'ndjson');
  const format = asked ?? (out !== undefined && fallback === 'table' ? 'ndjson' : fallback);
  if (bom && format !== 'csv')
    throw usageError(`--bom requires CSV, but the output is ${format}`, 'add -o csv');
  return format;
}

/**
 * The fields that --fields selects, checked against the record's schema before any request is sent.
 */
export async function selectedFields(
  text: string | undefined,
  view: Pick<View<unknown>, 'fields'>,
): Promise<readonly string[] | undefined> {
  if (text === undefined) return undefined;
  const { parseFields } = await import('../../output/format/fields.ts');
  return parseFields(text, view.fields());
}

/** Whether a format prints records as rows, whose columns a command can choose. */
export const isRowFormat = (format: OutputFormat): boolean =>
  format !== 'ndjson' && format !== 'json';

/**
 * The width of the terminal in cells. Some containers and CI systems report a terminal of size 0x0.
 */
export const terminalWidth = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>): number =>
  stdout.columns || Number(env['COLUMNS']) || 80;

type PrinterForm<T> = Pick<PrinterOptions<T>, 'format' | 'single' | 'live'>;

/** Opens the printer of a format, as the flags and settings require. */
export async function openPrinter<T>(
  { io, notice }: Pick<Terminal, 'io' | 'notice'>,
  settings: Settings,
  sink: Sink,
  view: View<T>,
  how: PrinterForm<T>,
) {
  const { createPrinter } = await import('../../output/format/printer.ts');
  const { wantsColor, wantsUnicode, wantsWords } = await import('../../output/terminal/style.ts');
  const terminal = io.stdout.isTTY === true && settings.flags.out === undefined;
  return await createPrinter({
    ...how,
    sink,
    view,
    fields: await selectedFields(settings.flags.fields, view),
    notify: notice,
    terminal,
    size: () => ({ width: terminalWidth(io), height: (terminal && io.stdout.rows) || undefined }),
    color: wantsColor(settings.flags.color, io.env, terminal, settings.color),
    unicode: wantsUnicode(io.env, io.platform),
    words: wantsWords(io.env),
    utc: settings.utc,
    now: io.clock.now,
    times: settings.flags.times,
    bom: settings.flags.bom,
    wide: settings.flags.wide,
  });
}

/**
 * A tail appends to its file, and waits while the disk is full. The file of other commands appears
 * when it is complete.
 */
export async function openSink(
  io: Io,
  out: string | undefined,
  diskWait: DiskWait | undefined,
  beforeWrite?: (bytes: Uint8Array) => void,
): Promise<Sink> {
  const live = diskWait !== undefined;
  const retry: Retry | undefined = diskWait && ((step) => diskWait.retry(out ?? 'stdout', step));
  if (out !== undefined) {
    const { descriptorIn } = await import('../../output/file.ts');
    const fd = descriptorIn(out);
    // Use the program's own streams, because two writers on one descriptor would mix their output.
    if (fd === 1 || fd === 2)
      return createSink(fd === 1 ? io.stdout : io.stderr, { live, name: out, retry, beforeWrite });
    const { appendSink, fileSink } = await import('../../output/file.ts');
    const { signal } = io;
    return live ? appendSink(out, { live, signal, retry }) : fileSink(out, { signal });
  }
  const fd = live ? fileIn(io.stdout) : undefined;
  if (fd !== undefined) (await import('../../output/file.ts')).prepareFile(fd);
  return createSink(io.stdout, {
    live,
    name: 'stdout',
    retry,
    beforeWrite,
  });
}

/** Collects what is written to it. */
class Collected implements Sink {
  readonly closed = new AbortController().signal;
  #parts: Uint8Array[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  write(chunk: string | Uint8Array): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    this.#parts.push(bytes);
    this.#size += bytes.length;
  }

  async flush(): Promise<void> {}

  async finish(): Promise<undefined> {
    return undefined;
  }

  /** Returns what was written since the last call. */
  take(): Buffer {
    const taken = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return taken;
  }
}

/** A printer whose text is taken from where it is collected. */
export interface TextPrinter<T> {
  readonly printer: Pick<Printer<T>, 'write' | 'writeRaw' | 'end'>;
  readonly text: Pick<Collected, 'size' | 'take'>;
}

/** Formats records as the flags require, but collects them. */
export async function createTextPrinter<T>(
  { terminal, settings }: { readonly terminal: Terminal; readonly settings: Settings },
  view: View<T>,
  how: PrinterForm<T>,
): Promise<TextPrinter<T>> {
  const text = new Collected();
  return { printer: await openPrinter(terminal, settings, text, view, how), text };
}
