import type { Sink } from '../sink.ts';
import type { View } from '../view.ts';

/** The values of `--output`. */
export type Format = 'table' | 'ndjson' | 'json' | 'csv' | 'tsv' | 'markdown';

/** Options of a printer. */
export interface PrinterOptions<T> {
  readonly sink: Sink;
  readonly view: View<T>;
  readonly format: Format;
  /** The names of `--fields`; names that the view does not list must be in the first record. */
  readonly fields?: readonly string[] | undefined;
  /** The command has exactly one result: print a JSON object instead of an array, a card instead of a row. */
  readonly single?: boolean | undefined;
  /** Records arrive one by one: a table shows each immediately. */
  readonly live?: boolean | undefined;
  /** The output goes to a terminal: JSON is indented, CSV is made safe. */
  readonly terminal?: boolean | undefined;
  /** The width of the terminal in cells; for tables. */
  readonly width?: number | undefined;
  /** Returns the current size of the terminal, for tables that follow a resize. */
  readonly size?: (() => { readonly width: number; readonly height: number | undefined }) | undefined;
  readonly color?: boolean | undefined;
  readonly unicode?: boolean | undefined;
  readonly utc?: boolean | undefined;
  readonly timeZone?: string | undefined;
  readonly now?: (() => number) | undefined;
  /** False if the CSV is appended to a file with a header. */
  readonly header?: boolean | undefined;
  /** The columns of the CSV file that an earlier run started. */
  readonly columns?: readonly string[] | undefined;
  /** The format of known timestamps in machine formats; default: epoch milliseconds. */
  readonly times?: 'iso' | 'ms' | undefined;
  /** Starts CSV with a byte order mark. */
  readonly bom?: boolean | undefined;
  /** Shows all columns of a table in full, whatever the terminal's width. */
  readonly wide?: boolean | undefined;
  /** Shows a one-line notice to the user. */
  readonly notify?: ((text: string) => void) | undefined;
}

/** Writes records in one format. */
export interface Printer<T> {
  write(record: T): void | Promise<void>;
  /** Writes the JSON of one record unchanged; absent if the format needs parsed records. */
  readonly writeRaw?: (json: Uint8Array) => void | Promise<void>;
  /**
   * Writes everything held back (the first rows of a table, a single JSON record) and the end of the document; the sink
   * stays open. Call it after a failure too, so that records that were paid for are delivered.
   */
  end(): Promise<void>;
}
