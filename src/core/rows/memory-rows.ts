import { RowStates } from '../../base/row-states.ts';
import type { Rows, RowValue, UnreadAnswer } from '../../contract/ports/rows.ts';

/** How many cached values are in memory at once: enough to read each file for several of them. */
const READ_AHEAD = 2_000;
/** The batch of all values that the cache has. */
const CACHED = 0;

/**
 * The rows of a run that prints them. Values are kept until they are read, those of the cache not
 * at all.
 */
export class MemoryRows<T> implements Rows<T> {
  readonly states: RowStates;
  readonly isKept = false;
  readonly #readCached: (rows: readonly number[]) => readonly RowValue<T>[];
  readonly #values = new Map<number, T>();
  readonly #asked = new Map<number, readonly number[]>();
  #next = CACHED + 1;
  #cached: ReadonlyMap<number, T> = new Map();
  /** The last cached row that was read ahead. */
  #readTo = -1;

  constructor(
    size: number,
    readCached: (rows: readonly number[]) => readonly RowValue<T>[] = () => [],
  ) {
    this.states = new RowStates(size);
    this.#readCached = readCached;
  }

  asking(rows: readonly number[]): number {
    const batch = this.#next++;
    this.#asked.set(batch, rows);
    for (const row of rows) this.states.ask(row);
    return batch;
  }

  answered(batch: number, values: readonly RowValue<T>[]): void {
    for (const { row, value } of values) {
      this.states.answer(row, batch);
      this.#values.set(row, value);
    }
    this.dropped(batch);
  }

  dropped(batch: number): void {
    for (const row of this.#asked.get(batch) ?? []) this.states.release(row);
    this.#asked.delete(batch);
  }

  lost(batch: number): void {
    this.dropped(batch);
  }

  take(values: readonly RowValue<T>[]): void {
    this.answered(this.#next++, values);
  }

  cached(values: readonly RowValue<T>[]): void {
    for (const { row } of values) this.states.answer(row, CACHED);
  }

  read(row: number): T | undefined {
    if (this.states.batchOf(row) === CACHED) return this.#readAhead(row).get(row);
    const value = this.#values.get(row);
    this.#values.delete(row);
    return value;
  }

  unread(): readonly UnreadAnswer[] {
    return [];
  }

  #readAhead(from: number): ReadonlyMap<number, T> {
    if (from <= this.#readTo) return this.#cached;
    const rows: number[] = [];
    for (let row = from; row < this.states.size && rows.length < READ_AHEAD; row++)
      if (this.states.batchOf(row) === CACHED) rows.push(row);
    this.#readTo = rows.at(-1) ?? from;
    this.#cached = new Map(this.#readCached(rows).map(({ row, value }) => [row, value]));
    return this.#cached;
  }
}
