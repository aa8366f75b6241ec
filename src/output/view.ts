/** How a value is shown to a person. Machine formats never look at this. */
export type CellKind =
  | 'text'
  | 'handle'
  | 'address'
  | 'usd'
  | 'signedUsd'
  | 'percent'
  | 'number'
  | 'integer'
  | 'multiple'
  | 'time'
  | 'age'
  | 'flag'
  | 'link'
  | 'status'
  /** A percentage of a whole: no sign, no colour. */
  | 'share'
  /** `{ used, of }` as a bar with its figures; `of` is null without a limit. */
  | 'meter'
  /** A list of numbers as a sparkline. */
  | 'spark'
  /** A share of the longest, -1 to 1, as a bar without figures. */
  | 'bar'
  /** Places won or lost: a number, or a word. */
  | 'move';

/** One column of a table: data, so that widths, colours and CSV are decided in one place. */
export interface Column<T> {
  readonly title: string;
  readonly kind: CellKind;
  /** How a row's own cell is shown where a column holds several kinds; `kind` still aligns it. */
  readonly kindOf?: (record: T) => CellKind;
  readonly value: (record: T) => unknown;
  /** Columns with the highest number are dropped first where the terminal is narrow. 0 always stays. */
  readonly rank?: number;
  /** May be shortened down to this many cells before a column is dropped. */
  readonly min?: number;
  /** Wraps over several lines instead of being cut. */
  readonly wrap?: boolean;
  /** Goes under its row, over the whole width, until it fits beside the other columns. */
  readonly below?: boolean;
  /** Times keep their seconds however narrow the terminal is. */
  readonly seconds?: boolean;
  /** Never shortened: it was asked for by name. */
  readonly whole?: boolean;
  /** The most lines a wrapped cell takes; the rest is cut. */
  readonly lines?: number;
  /** The dotted path of the field shown, so that `--fields` finds the title and the kind. */
  readonly field?: string;
}

/** One line of a card: a label and what it holds. */
export interface CardLine<T> {
  readonly label: string;
  readonly kind: CellKind;
  /** Null shows as a dash; undefined leaves the line out. */
  readonly value: (record: T) => unknown;
}

/** A small table inside a card. */
export interface CardTable<T> {
  readonly titles: readonly { readonly title: string; readonly kind: CellKind }[];
  readonly rows: (record: T) => readonly (readonly unknown[])[];
}

/** How one kind of record is shown: in a list, alone, and in CSV. */
export interface View<T> {
  readonly columns: readonly Column<T>[];
  /** How a single record is shown where the command has exactly one answer. */
  readonly card?: {
    readonly title: (record: T) => string;
    readonly lines: readonly CardLine<T>[];
    readonly table?: CardTable<T>;
  };
  /** The dotted paths of every known field of a record, in order: what `--fields` may name, and the CSV header. */
  readonly fields: readonly string[];
  /** Rows and header of CSV where they differ from the record's own fields. */
  readonly csv?: {
    readonly header: readonly string[];
    readonly rows: (record: T) => readonly (readonly unknown[])[];
  };
  /** Marks what a search found in the texts of a table. */
  readonly highlight?: RegExp | undefined;
  /** What a table says when there is nothing to show. */
  readonly empty: string;
}
