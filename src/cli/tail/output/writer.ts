import { outputClosed } from '../../../output/sink.ts';
import type { HandoffHealth } from '../../../tail/exec/delivery.ts';
import type { TailSink } from '../../../tail/ports.ts';
import type { TailRow } from '../../../tail/post-row.ts';
import type { Records } from '../../run/out.ts';

export interface TailOutput {
  readonly sink: TailSink;
  /** Aborted when the reader closes the output; undefined for a command. */
  readonly closed?: AbortSignal | undefined;
  /** Throws if the run must fail because of its output, such as dead letters. */
  readonly check?: (() => void) | undefined;
  /** The state of the handoff to a command. */
  readonly handoff?: (() => HandoffHealth) | undefined;
  close(): Promise<void>;
}

/** `hide` hides the status line before rows are printed; the promise of `paused` delays them. */
export function printTo(
  records: Records<TailRow['record']>,
  hide: () => void,
  paused: () => Promise<void> | undefined = () => undefined,
): TailOutput {
  const { closed } = records;
  /** Whether the output still has a reader. Throws every error except that of a closed reader. */
  const open = (): boolean => {
    if (!closed.aborted) return true;
    if (closed.reason === outputClosed) return false;
    throw closed.reason;
  };
  /** The writes that the operating system has not received yet: the last byte, and the number of rows. */
  const unwritten: { readonly end: number; readonly rows: number }[] = [];
  const pending = () => {
    const written = records.progress?.().written ?? Number.POSITIVE_INFINITY;
    while (unwritten[0] && unwritten[0].end <= written) unwritten.shift();
    return unwritten.reduce((sum, { rows }) => sum + rows, 0);
  };
  const sink: TailSink = {
    pending,
    write(rows) {
      if (!open()) return false;
      const waiting = paused();
      if (waiting) return waiting.then(() => sink.write(rows));
      hide();
      let wait: void | Promise<void> | null = null;
      for (const row of rows) {
        // Write the original bytes if possible, so that the record need not be parsed.
        wait =
          row.raw !== null && records.writeRaw
            ? records.writeRaw(row.raw)
            : records.write(row.record);
      }
      pending();
      unwritten.push({ end: records.progress?.().accepted ?? 0, rows: rows.length });
      return wait ? wait.then(open) : open();
    },
    async flush() {
      if (open()) await records.flush();
      return open();
    },
  };
  return {
    sink,
    closed,
    async close() {
      if (!closed.aborted) await records.end();
    },
  };
}
