import type { Sink } from '../sink.ts';
import type { View } from '../view.ts';

/** The values of `--output`. */
export type Format = 'table' | 'ndjson' | 'json' | 'csv' | 'tsv' | 'markdown';

/** Everything that decides how records become text. */
export interface PrinterOptions<T> {
  readonly sink: Sink;
  readonly view: View<T>;
  readonly format: Format;
  /** The names of `--fields`; those that the view does not list have to be in the first record. */
  readonly fields?: readonly string[] | undefined;
  /** The command has exactly one answer: a JSON object instead of an array, a card instead of a row. */
  readonly single?: boolean | undefined;
  /** Records trickle in: a table shows each at once. */
  readonly live?: boolean | undefined;
  /** The output is looked at: JSON is spread out, CSV is made safe. */
  readonly terminal?: boolean | undefined;
  /** Cells of the terminal's width; for tables. */
  readonly width?: number | undefined;
  /** The terminal's present size: for tables that follow a resize. */
  readonly size?: (() => { readonly width: number; readonly height: number | undefined }) | undefined;
  readonly color?: boolean | undefined;
  readonly unicode?: boolean | undefined;
  readonly utc?: boolean | undefined;
  readonly timeZone?: string | undefined;
  readonly now?: (() => number) | undefined;
  /** False if the CSV is appended to a file with a header. */
  readonly header?: boolean | undefined;
  /** The columns that an earlier run gave the CSV. */
  readonly columns?: readonly string[] | undefined;
  /** How known timestamps are written in machine formats; epoch milliseconds where absent. */
  readonly times?: 'iso' | 'ms' | undefined;
  /** Starts CSV with a byte order mark. */
  readonly bom?: boolean | undefined;
  /** Shows all columns of a table in full, whatever the terminal's width. */
  readonly wide?: boolean | undefined;
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
