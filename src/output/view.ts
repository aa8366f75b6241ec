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
  | 'flag'
  | 'link'
  | 'status'
  /** `{ used, of }`; `of` is null if there is no limit. */
  | 'meter'
  /** A number, drawn relative to the largest one of the column. */
  | 'bar'
  /** A list of numbers in the order of time, drawn as a line; null is a gap. */
  | 'trend'
  /** The same, of counts. */
  | 'activity'
  /** Ranks gained or lost: a number, or a word such as `new`. */
  | 'move';

/** A column of a table, or one line of a card. */
export interface Column<T> {
  readonly title: string;
  readonly kind: CellKind;
  /** The kind of a value, if a column has several; `kind` still determines the alignment. */
  readonly kindOf?: (record: T) => CellKind;
  readonly field?: string;
  readonly value?: (record: T) => unknown;
  /** The highest rank is dropped first; rank 0 only if not even one cell each fits. */
  readonly rank?: number;
  /**
   * The least width, in cells. Columns of a rank above 0 are dropped until the others have theirs.
   */
  readonly min?: number;
  readonly wrap?: boolean;
  /** Whether a value that is too long loses its beginning, because its end tells more. */
  readonly keepsEnd?: boolean;
  /** Whether the value is printed below its row, unless it fits next to the other columns. */
  readonly below?: boolean;
  /** Whether the value is never shortened, because `--fields` names the column. */
  readonly whole?: boolean;
  readonly lines?: number;
  /**
   * Whether the user asked for the column, so that a notice names it if there is no room for it.
   */
  readonly asked?: boolean;
}

/** A row of a table below a card. */
export type Row = Readonly<Record<string, unknown>>;

export interface View<T> {
  readonly columns: readonly Column<T>[];
  readonly card?: {
    readonly title: (record: T) => string;
    /** Null is shown as a dash; undefined omits the line. */
    readonly lines: readonly Column<T>[];
    readonly table?: { readonly columns: readonly Column<Row>[]; rows(record: T): readonly Row[] };
  };
  /** All documented paths, which `--fields` accepts and a CSV header lists; few runs need them. */
  readonly fields: () => readonly string[];
  readonly highlight?: RegExp | undefined;
  readonly empty: string;
}
