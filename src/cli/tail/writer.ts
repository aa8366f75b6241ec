import { outputClosed } from '../../output/sink.ts';
import type { HandoffHealth } from '../../tail/exec/handoff-meter.ts';
import type { TailSink } from '../../tail/ports.ts';
import type { TailRow } from '../../tail/row.ts';
import type { Records } from '../context.ts';

/** Where the rows of a run go, and what depends on it. */
export interface TailOutput {
  readonly sink: TailSink;
  /** Saves a checkpoint; undefined where nothing is saved. */
  readonly save: ((text: string) => Promise<void>) | undefined;
  /** False for rows that an earlier run delivered, where the start point does not say so. */
  readonly isNew?: (row: TailRow) => boolean;
  /** Throws where the output makes a run that ended by itself a failure. */
  readonly check?: (() => void) | undefined;
  /** The state of the handoff to a command. */
  readonly handoff?: (() => HandoffHealth) | undefined;
  close(): Promise<void>;
}

/** Prints the rows. */
export const printTo = (
  records: Records<TailRow['record']>,
  hide: () => void,
  save: TailOutput['save'],
  paused?: () => Promise<void> | undefined,
): TailOutput => ({
  sink: openTailWriter(records, hide, paused),
  save,
  async close() {
    if (!records.closed.aborted) await records.end();
  },
});

/** Writes the rows of a tail. `hide` removes the status line while rows are printed. */
export function openTailWriter(
  records: Records<TailRow['record']>,
  hide: () => void,
  paused: () => Promise<void> | undefined = () => undefined,
): TailSink {
  const { closed } = records;
  /**
   * Whether the output still has a reader. A reader that closed its end is not a failure; other errors are.
   */
  const open = (): boolean => {
    if (!closed.aborted) return true;
    if (closed.reason === outputClosed) return false;
    throw closed.reason;
  };
  const sink: TailSink = {
    write(rows) {
      if (!open()) return false;
      const waiting = paused();
      if (waiting) return waiting.then(() => sink.write(rows));
      hide();
      let wait: void | Promise<void> | null = null;
      for (const row of rows) {
        // Use the raw bytes if possible: the record may not have been parsed yet.
        wait = row.raw !== null && records.writeRaw ? records.writeRaw(row.raw) : records.write(row.record);
      }
      return wait ? wait.then(open) : open();
    },
    async flush() {
      if (open()) await records.flush();
      return open();
    },
  };
  return sink;
}
