import { parseJson, stringifyJson } from '../../base/json.ts';
import type { Spool } from '../ports.ts';
import type { PostFields, TailRow } from '../row.ts';

/** The rows of a walk: added newest first, removed oldest first. */
export interface RowStack {
  push(rows: readonly TailRow[]): Promise<void>;
  /** Removes and returns the oldest rows, oldest first. The list is empty if no rows are left. */
  take(): Promise<readonly TailRow[]>;
  clear(): Promise<void>;
}

/** The number of rows in memory after which they are moved to the spool. */
const MAX_IN_MEMORY = 1_000;

/** Creates a stack. With a spool, its memory is limited. */
export function createRowStack(openSpool: (() => Spool) | undefined): RowStack {
  let held: TailRow[] = [];
  let spool: Spool | undefined;
  let stored: (() => Promise<string>)[] = [];

  const clear = async () => {
    held = [];
    stored = [];
    const closing = spool;
    spool = undefined;
    await closing?.close();
  };

  return {
    async push(rows) {
      for (const row of rows) held.push(row);
      if (held.length < MAX_IN_MEMORY || !openSpool) return;
      spool ??= openSpool();
      const lines = held.map((row) => stringifyJson([row.id, row.at, row.record]));
      held = [];
      stored.push(await spool.put(lines.join('\n')));
    },
    async take() {
      if (held.length > 0) {
        const rows = held.splice(Math.max(0, held.length - 500));
        return rows.reverse();
      }
      const read = stored.pop();
      if (!read) {
        await clear();
        return [];
      }
      held = (await read()).split('\n').map(rowFrom);
      return held.splice(Math.max(0, held.length - 500)).reverse();
    },
    clear,
  };
}

/** Parses a row that `push` has written. */
function rowFrom(line: string): TailRow {
  const [id, at, record] = parseJson(line) as [string, number | null, PostFields];
  return { id, at, record, raw: null };
}
