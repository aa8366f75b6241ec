import type { Batch, CommandEnd, HandoffRow } from './batch.ts';
import type { Delivery } from './deliver.ts';

/** The state of a handoff, for monitoring. */
export interface HandoffHealth {
  /** Acknowledged batches and posts. */
  readonly batches: number;
  readonly rows: number;
  /** Retries: all attempts except the first attempt of each batch. */
  readonly retries: number;
  /** Batches and posts in the dead-letter file. */
  readonly deadBatches: number;
  readonly deadRows: number;
  /**
   * Posts that were read and are neither acknowledged nor in the dead-letter file, and the oldest post time among
   * them (epoch ms; null if no such post has a time).
   */
  readonly pendingRows: number;
  readonly oldestAt: number | null;
  /** The exit status of the last attempt; null before the first attempt has ended. */
  readonly lastExit: number | null;
}

/** Counts what happens to batches. */
interface HandoffMeter {
  readonly taken: (batch: Batch) => void;
  readonly attempted: (attempt: number, end: CommandEnd) => void;
  readonly delivered: (batch: Batch, outcome: Delivery) => void;
  /** Returns the state; `queued` are the rows that are not in a batch yet. */
  readonly health: (queued: readonly HandoffRow[]) => HandoffHealth;
}

export function createHandoffMeter(): HandoffMeter {
  let [batches, rows, retries, deadBatches, deadRows] = [0, 0, 0, 0, 0];
  let lastExit: number | null = null;
  let current: Batch | undefined;
  return {
    taken(batch) {
      current = batch;
    },
    attempted(attempt, end) {
      if (attempt > 1) retries++;
      lastExit = end.ok ? 0 : end.code;
    },
    delivered(batch, outcome) {
      if (outcome === 'acknowledged') {
        batches++;
        rows += batch.rows.length;
      }
      if (outcome === 'dead') {
        deadBatches++;
        deadRows += batch.rows.length;
      }
      // The batch that a stopped run did not deliver still counts as pending: it is not acknowledged.
      if (outcome !== 'left') current = undefined;
    },
    health(queued) {
      const pending = [...(current?.rows ?? []), ...queued];
      const oldest = pending.reduce(
        (least, { at }) => Math.min(least, at ?? least),
        Number.POSITIVE_INFINITY,
      );
      return {
        ...{ batches, rows, retries, deadBatches, deadRows, lastExit },
        pendingRows: pending.length,
        oldestAt: Number.isFinite(oldest) ? oldest : null,
      };
    },
  };
}
