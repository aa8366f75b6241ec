import { type Clock, createBackoff } from '../../base/clock.ts';

export interface HandoffRow {
  readonly id: string;
  readonly at: number | null;
  readonly line: Uint8Array;
}

export interface Batch {
  readonly number: number;
  readonly rows: readonly HandoffRow[];
}

/** The result of one attempt. Exit code 0 acknowledges the batch. */
export type CommandEnd =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly why: string;
      /** As a shell reports it: 128 plus the signal number, or 127 if the command is not found. */
      readonly code: number;
    };

export type HandoffNotice =
  | {
      readonly kind: 'failed';
      readonly batch: Batch;
      readonly attempt: number;
      readonly why: string;
      readonly waitMs: number;
    }
  | { readonly kind: 'recovered'; readonly batch: Batch; readonly attempts: number }
  | {
      readonly kind: 'dead';
      readonly batch: Batch;
      readonly attempts: number;
      readonly why: string;
    };

/** The outcome of a batch. `left` means that the next run hands over the batch. */
export type Delivery = 'acknowledged' | 'dead' | 'left';

export interface HandoffHealth {
  readonly batches: number;
  readonly rows: number;
  readonly retries: number;
  readonly deadBatches: number;
  readonly deadRows: number;
  /** Posts that were read and have neither outcome, and the oldest post time among them. */
  readonly pendingRows: number;
  readonly oldestAt: number | null;
  readonly lastExit: number | null;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** All batches share one backoff, because a command that fails for every batch would otherwise run too often. */
export function createDelivery(options: {
  readonly clock: Clock;
  readonly random: () => number;
  readonly run: (batch: Batch, attempt: number) => Promise<CommandEnd>;
  /** Saves a batch that the command does not accept. If it throws a `Failure`, the run ends. */
  readonly deadLetter: (batch: Batch) => void | Promise<void>;
  readonly notify: (notice: HandoffNotice) => void;
  readonly tries: number;
  /** Whether a batch that fails while the run is stopping is a dead letter. True for runs without a checkpoint. */
  readonly forgetful: boolean;
}) {
  const { clock, random, run, deadLetter, notify, tries, forgetful } = options;
  const backoff = createBackoff(FIRST_WAIT_MS, LONGEST_WAIT_MS, random);
  let [batches, rows, retries, deadBatches, deadRows] = [0, 0, 0, 0, 0];
  let lastExit: number | null = null;
  let current: Batch | undefined;

  async function attempts(batch: Batch, stop: AbortSignal): Promise<Delivery> {
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1) retries++;
      const end = await run(batch, attempt);
      lastExit = end.ok ? 0 : end.code;
      if (end.ok) {
        backoff.reset();
        if (attempt > 1) notify({ kind: 'recovered', batch, attempts: attempt });
        return 'acknowledged';
      }
      if (attempt < tries && !stop.aborted) {
        const waitMs = backoff.next();
        notify({ kind: 'failed', batch, attempt, why: end.why, waitMs });
        await clock.sleep(waitMs, stop).catch(() => {});
        if (!stop.aborted) continue;
      }
      if (attempt < tries && !forgetful) return 'left';
      await deadLetter(batch);
      notify({ kind: 'dead', batch, attempts: attempt, why: end.why });
      return 'dead';
    }
  }

  return {
    async deliver(batch: Batch, stop: AbortSignal): Promise<Delivery> {
      current = batch;
      const outcome = await attempts(batch, stop);
      if (outcome === 'acknowledged') [batches, rows] = [batches + 1, rows + batch.rows.length];
      if (outcome === 'dead')
        [deadBatches, deadRows] = [deadBatches + 1, deadRows + batch.rows.length];
      // The batch that a stopped run did not deliver still counts as pending: it is not acknowledged.
      if (outcome !== 'left') current = undefined;
      return outcome;
    },
    health(queued: readonly HandoffRow[]): HandoffHealth {
      const pending = [...(current?.rows ?? []), ...queued];
      const times = pending.flatMap(({ at }) => (at === null ? [] : [at]));
      const oldestAt = times.length === 0 ? null : times.reduce((least, at) => Math.min(least, at));
      const counts = { batches, rows, retries, deadBatches, deadRows, lastExit };
      return { ...counts, pendingRows: pending.length, oldestAt };
    },
  };
}
