import type { Sink } from '../sink.ts';
import type { View } from '../view.ts';
import type { TimeZoneOptions } from './time.ts';

export type Format = 'table' | 'ndjson' | 'json' | 'csv' | 'tsv' | 'markdown';

export interface PrinterOptions<T> {
  readonly sink: Sink;
  readonly view: View<T>;
  readonly format: Format;
  /** The fields that `--fields` selects, without leading dots. A record may lack them. */
  readonly fields?: readonly string[] | undefined;
  /**
   * Whether the command has exactly one result, which is printed as a JSON object instead of an array, and as
   * a card instead of a table.
   */
  readonly single?: boolean | undefined;
  /** Whether records arrive one by one, so that a table prints each record immediately. */
  readonly live?: boolean | undefined;
  /**
   * Whether the output is a terminal. JSON is then indented, and everything that a terminal could interpret is
   * removed from CSV.
   */
  readonly terminal?: boolean | undefined;
  readonly width?: number | undefined;
  /** Returns the present size of the terminal, so that tables adapt when it is resized. */
  readonly size?: (() => { readonly width: number; readonly height: number | undefined }) | undefined;
  readonly color?: boolean | undefined;
  readonly unicode?: boolean | undefined;
  readonly utc?: boolean | undefined;
  readonly timeZone?: string | undefined;
  readonly now?: (() => number) | undefined;
  /** False if the CSV is appended to a file with a header. */
  readonly header?: boolean | undefined;
  /** The columns of a CSV file that an earlier run has begun. */
  readonly columns?: readonly string[] | undefined;
  /** The format of timestamps in the fields of the view, for machine formats; default: epoch milliseconds. */
  readonly times?: 'iso' | 'ms' | undefined;
  readonly bom?: boolean | undefined;
  /** Whether a table shows all columns in full, even if they are wider than the terminal. */
  readonly wide?: boolean | undefined;
  readonly notify?: ((text: string) => void) | undefined;
}

export interface Printer<T> {
  write(record: T): void | Promise<void>;
  /**
   * Writes one record from its JSON text, unchanged if the text is safe and on one line. Absent if the format
   * needs parsed records.
   */
  readonly writeRaw?: (json: Uint8Array) => void | Promise<void>;
  /**
   * Prints the records that are still buffered (the first rows of a table, a single JSON record) and the end
   * of the document. Does not end the sink. The caller must call this after a failure too, because the
   * records were paid for.
   */
  end(): Promise<void>;
}

/**
 * The meaning of a cell's color. The same meaning is always visible without color, from words, a sign or a
 * mark.
 */
export type Tone = 'plain' | 'strong' | 'dim' | 'accent' | 'good' | 'bad' | 'warn' | 'match';

export interface FormatContext extends TimeZoneOptions {
  readonly now: () => number;
  /** False if the terminal can only show ASCII. */
  readonly unicode: boolean;
}

export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

export const contextOf = ({
  utc = false,
  timeZone,
  unicode = true,
  now = Date.now,
}: Pick<PrinterOptions<unknown>, 'utc' | 'timeZone' | 'unicode' | 'now'>): FormatContext => ({
  utc,
  timeZone,
  unicode,
  now,
});
