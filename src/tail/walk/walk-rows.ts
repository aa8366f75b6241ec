import { parseJson, stringifyJson } from '../../base/json.ts';
import type { Spool } from '../ports.ts';
import type { PostFields, TailRow } from '../post-row.ts';

const MAX_IN_MEMORY = 1_000;
const TAKEN = 500;

/**
 * The rows of a walk: added newest first, removed oldest first. With a spool, their memory is
 * bounded.
 */
export class RowStack {
  #held: TailRow[] = [];
  #spool: Spool | undefined;
  #stored: { readonly read: () => Promise<string>; readonly lowest: number }[] = [];
  readonly #open: (() => Spool) | undefined;

  constructor(open: (() => Spool) | undefined) {
    this.#open = open;
  }

  get lowest(): number {
    return this.#stored.reduce(
      (least, { lowest }) => Math.min(least, lowest),
      lowestOf(this.#held),
    );
  }

  size = 0;

  async push(rows: readonly TailRow[]): Promise<void> {
    for (const row of rows) this.#held.push(row);
    this.size += rows.length;
    if (this.#held.length < MAX_IN_MEMORY || !this.#open) return;
    this.#spool ??= this.#open();
    const lines = this.#held.map((row) => stringifyJson([row.id, row.at, row.record]));
    const lowest = lowestOf(this.#held);
    this.#held = [];
    this.#stored.push({ read: await this.#spool.put(lines.join('\n')), lowest });
  }

  /** Removes and returns the oldest rows, oldest first. The list is empty if no rows are left. */
  async take(): Promise<readonly TailRow[]> {
    if (this.#held.length === 0) {
      const stored = this.#stored.pop();
      if (!stored) {
        await this.clear();
        return [];
      }
      this.#held = (await stored.read()).split('\n').map(rowFrom);
    }
    const rows = this.#held.splice(Math.max(0, this.#held.length - TAKEN)).reverse();
    this.size -= rows.length;
    return rows;
  }

  async clear(): Promise<void> {
    this.#held = [];
    this.#stored = [];
    this.size = 0;
    const closing = this.#spool;
    this.#spool = undefined;
    await closing?.close();
  }
}

const lowestOf = (rows: readonly TailRow[]): number =>
  rows.reduce((least, { at }) => Math.min(least, at ?? least), Number.POSITIVE_INFINITY);

function rowFrom(line: string): TailRow {
  const [id, at, record] = parseJson(line) as [string, number | null, PostFields];
  return { id, at, record, raw: null };
}
