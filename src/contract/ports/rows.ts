import type { RowStates } from '../../base/row-states.ts';

/** The value of a row. Its number is the only identity of what a run asks for. */
export interface RowValue<T> {
  readonly row: number;
  readonly value: T;
}

/** An answer that an earlier run paid for and could not read. */
export interface UnreadAnswer {
  /** Its rows that have no other answer. */
  readonly rows: readonly number[];
  readonly text: string;
}

/**
 * The rows of a run that asks for many values: in memory if it prints them, in a journal if it
 * exports them. Only `askRows` calls `asking` and what settles a batch.
 */
export interface Rows<T> {
  readonly states: RowStates;
  /** Whether a later run can continue this one. */
  readonly isKept: boolean;
  /** Notes that these rows are about to be sent. Returns the number of the batch. */
  asking(rows: readonly number[], rowBytes?: number): number;
  /** Saves the answer of a batch. If this throws, the caller may save the same answer again. */
  answered(batch: number, values: readonly RowValue<T>[]): void;
  /** The batch was not charged: its rows are open again. */
  dropped(batch: number): void;
  /**
   * The answer was lost, or could not be read (`text`), and may have been charged: its rows are
   * open again.
   */
  lost(batch: number, cuAtMost: number, text?: string): void;
  /** Takes values that this run has not asked for. */
  take(values: readonly RowValue<T>[]): void;
  /** Takes values that the cache has, from which they can be read again. */
  cached(values: readonly RowValue<T>[]): void;
  /** Undefined without a value. In memory, a value is read once. */
  read(row: number): T | undefined;
  unread(): Iterable<UnreadAnswer>;
}
