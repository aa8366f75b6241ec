import type { HandoffHealth } from '../exec/delivery.ts';
import type { PrintWriter } from './print-writer.ts';

/** What the wiring of a run needs of the output beside its writer. */
export interface RunWriter<W> {
  readonly writer: W;
  /** Aborted when the reader closes the output; undefined for a command. */
  readonly closed: AbortSignal | undefined;
  /** Throws if the run must fail because of its output, such as dead letters. */
  readonly check: (() => void) | undefined;
  /** The state of the handoff to a command. */
  readonly handoff: (() => HandoffHealth) | undefined;
  close(): Promise<void>;
}

/** The output of a run that prints. */
export const printing = <W extends PrintWriter>(writer: W): RunWriter<W> => ({
  writer,
  closed: writer.closed,
  check: undefined,
  handoff: undefined,
  close: () => writer.close(),
});
