import { createBackoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Batch, CommandEnd, HandoffNotice } from './batch.ts';

/** The outcome of a batch. `left` means that the next run hands over the batch. */
export type Delivery = 'acknowledged' | 'dead' | 'left';

interface DeliveryPorts {
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  /** Runs the command with the batch on its stdin. */
  readonly run: (batch: Batch, attempt: number) => Promise<CommandEnd>;
  /**
   * Saves a batch that the command does not accept. If the batch cannot be saved, throws a `Failure`, which
   * ends the run.
   */
  readonly deadLetter: (batch: Batch) => void | Promise<void>;
  readonly notify: (notice: HandoffNotice) => void;
}

interface DeliveryOptions {
  /** The number of attempts after which a batch is written to the dead-letter file. */
  readonly tries: number;
  /**
   * Whether a batch that fails while the run is stopping is written to the dead-letter file. True for runs
   * without a checkpoint.
   */
  readonly forgetful: boolean;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Delivers one batch at a time. Retries until the batch is acknowledged, no attempts are left, or the run stops. */
export function createDelivery(
  { clock, random, run, deadLetter, notify }: DeliveryPorts,
  { tries, forgetful }: DeliveryOptions,
): (batch: Batch, stop: AbortSignal) => Promise<Delivery> {
  // All batches share one backoff. With a backoff per batch, a command that fails for every batch would be
  // called too often.
  const backoff = createBackoff(FIRST_WAIT_MS, LONGEST_WAIT_MS, random);
  return async (batch, stop) => {
    for (let attempt = 1; ; attempt++) {
      const end = await run(batch, attempt);
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
  };
}
