/** How a value is formatted for people. Machine formats ignore the kind. */
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
  /** `{ used, of }` as a bar with figures; `of` is null if there is no limit. */
  | 'meter'
  /** A bar without figures. The value is its length relative to the longest bar, from -1 to 1. */
  | 'bar'
  /** Ranks gained or lost: a number, or a word such as `new`. */
  | 'move';

/** One column of a table, or one line of a card. */
export interface Column<T> {
  readonly title: string;
  readonly kind: CellKind;
  /**
   * The kind of a single cell, for columns with values of several kinds; `kind` still determines the
   * alignment.
   */
  readonly kindOf?: (record: T) => CellKind;
  /** The dotted path of the field that the column shows, by which `--fields` finds the column. */
  readonly field?: string;
  /** What the column shows in place of the field. */
  readonly value?: (record: T) => unknown;
  /**
   * The rank of a column: on a narrow terminal, columns with the highest rank are dropped first. Columns of
   * rank 0 are dropped only if they do not fit with one cell each.
   */
  readonly rank?: number;
  /** The minimum width in cells. Columns of a rank above 0 are dropped until the others have their minimum. */
  readonly min?: number;
  readonly wrap?: boolean;
  /**
   * Whether the value is printed below its row, over the full width, unless it fits next to the other
   * columns.
   */
  readonly below?: boolean;
  /** Whether the value is never shortened, because the user requested the column with `--fields`. */
  readonly whole?: boolean;
  readonly lines?: number;
}

interface CardTable<T> {
  readonly titles: readonly { readonly title: string; readonly kind: CellKind }[];
  readonly rows: (record: T) => readonly (readonly unknown[])[];
}

/** How one kind of record is shown in a table and as a card, and which fields it has. */
export interface View<T> {
  readonly columns: readonly Column<T>[];
  readonly card?: {
    readonly title: (record: T) => string;
    /** The lines, with their titles as labels. Null is shown as a dash; undefined omits the line. */
    readonly lines: readonly Column<T>[];
    readonly table?: CardTable<T>;
  };
  /**
   * The dotted paths of all documented fields. `--fields` accepts these paths, and the CSV header lists them in
   * this order.
   */
  readonly fields: readonly string[];
  /** A pattern whose matches are highlighted in the texts of a table. */
  readonly highlight?: RegExp | undefined;
  /** The notice for a table without rows; empty for no notice. */
  readonly empty: string;
  /** The name of the records, singular and plural: `thesis`, `theses`. */
  readonly noun?: readonly [one: string, many: string];
}
