import type { Sink } from '../sink.ts';
import type { View } from '../view.ts';

type Format = 'table' | 'ndjson' | 'json' | 'csv' | 'tsv' | 'markdown';

export interface PrinterOptions<T> extends FormatContext {
  readonly sink: Sink;
  readonly view: View<T>;
  readonly format: Format;
  /** The requested fields, without leading dots. A record may lack them. */
  readonly fields?: readonly string[] | undefined;
  /** Whether the command has exactly one result: a JSON object, or a card. */
  readonly single?: boolean | undefined;
  readonly live?: boolean | undefined;
  /** JSON is then indented, and CSV is made safe for a terminal. */
  readonly terminal?: boolean | undefined;
  readonly size: () => { readonly width: number; readonly height?: number | undefined };
  readonly color?: boolean | undefined;
  readonly times?: 'iso' | 'ms' | undefined;
  readonly bom?: boolean | undefined;
  readonly wide?: boolean | undefined;
  readonly notify?: ((text: string) => void) | undefined;
}

export interface Printer<T> {
  write(record: T): void | Promise<void>;
  /**
   * Writes a record from its JSON text, unchanged if possible. Absent if the format needs parsed
   * records.
   */
  readonly writeRaw?: ((json: Uint8Array) => void | Promise<void>) | undefined;
  /** Needed after a failure too, because the records were paid for. Does not end the sink. */
  end(): Promise<void>;
}

/** A printer, and what a run has to know of the sink behind it. */
export interface Records<T> extends Printer<T>, Pick<Sink, 'flush' | 'closed'> {
  readonly progress?: Sink['progress'] | undefined;
}

/** The meaning of a color, which words, a sign or a mark also show without color. */
export type Tone = 'plain' | 'strong' | 'dim' | 'accent' | 'good' | 'bad' | 'warn' | 'match';

export interface FormatContext {
  readonly utc: boolean;
  readonly now: () => number;
  readonly unicode: boolean;
  /** Whether words stand in place of what is drawn, because the output is read aloud. */
  readonly words?: boolean | undefined;
}

export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}
