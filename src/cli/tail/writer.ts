import { outputClosed } from '../../output/sink.ts';
import type { TailSink } from '../../tail/ports.ts';
import type { TailRow } from '../../tail/row.ts';
import type { Records } from '../context.ts';

/** Where the rows of a tail go: the printer of the run. `hide` takes the status line away while rows appear. */
export function openTailWriter(records: Records<TailRow['record']>, hide: () => void): TailSink {
  const { closed } = records;
  /** True while the output has a reader. A reader that closed its end is not a failure, anything else is. */
  const open = (): boolean => {
    if (!closed.aborted) return true;
    if (closed.reason === outputClosed) return false;
    throw closed.reason;
  };
  return {
    write(rows) {
      if (!open()) return false;
      hide();
      let wait: void | Promise<void> | null = null;
      for (const row of rows) {
        // The record is left alone where its bytes will do: it may not have been parsed yet.
        wait = row.raw !== null && records.writeRaw ? records.writeRaw(row.raw) : records.write(row.record);
      }
      return wait ? wait.then(open) : open();
    },
    async flush() {
      if (open()) await records.flush();
      return open();
    },
  };
}
