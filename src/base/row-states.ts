/**
 * What is known of a row: nothing yet, in flight, waiting for another row or machine, given up in
 * this run, or answered.
 */
export type RowState = 'open' | 'asked' | 'waiting' | 'failed' | 'answered';

const OPEN = 0;
const codeOf = { open: OPEN, asked: -1, waiting: -2, failed: -3 } as const;
const stateOf: Readonly<Record<number, RowState>> = {
  '0': 'open',
  '-1': 'asked',
  '-2': 'waiting',
  '-3': 'failed',
};

/** The states of the rows of a run, in four bytes each: a run can have a million rows. */
export class RowStates {
  /** The number of the batch with the answer plus one; 0 or less without an answer. */
  readonly #codes: Int32Array;
  readonly #counts: Record<RowState, number>;
  /** No row before this one is open. */
  #lowest = 0;

  constructor(size: number) {
    this.#codes = new Int32Array(size);
    this.#counts = { open: size, asked: 0, waiting: 0, failed: 0, answered: 0 };
  }

  get size(): number {
    return this.#codes.length;
  }

  of(row: number): RowState {
    return stateOf[this.#codes[row] ?? OPEN] ?? 'answered';
  }

  count(state: RowState): number {
    return this.#counts[state];
  }

  /** The first open rows. */
  open(count = this.size): number[] {
    const rows: number[] = [];
    while (this.#lowest < this.size && this.#codes[this.#lowest] !== OPEN) this.#lowest++;
    for (let row = this.#lowest; row < this.size && rows.length < count; row++)
      if (this.#codes[row] === OPEN) rows.push(row);
    return rows;
  }

  ask(row: number): void {
    this.#set(row, codeOf.asked);
  }

  wait(row: number): void {
    this.#set(row, codeOf.waiting);
  }

  fail(row: number): void {
    this.#set(row, codeOf.failed);
  }

  answer(row: number, batch: number): void {
    this.#set(row, batch + 1);
  }

  /** Opens a row again, unless it has an answer or has failed. */
  release(row: number): void {
    const state = this.of(row);
    if (state !== 'asked' && state !== 'waiting') return;
    this.#set(row, OPEN);
    this.#lowest = Math.min(this.#lowest, row);
  }

  /** The batch with the answer; undefined if there is none. */
  batchOf(row: number): number | undefined {
    const code = this.#codes[row] ?? OPEN;
    return code > 0 ? code - 1 : undefined;
  }

  #set(row: number, code: number): void {
    this.#counts[this.of(row)]--;
    this.#codes[row] = code;
    this.#counts[this.of(row)]++;
  }
}
