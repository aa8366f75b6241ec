import { createBackoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Batch, CommandEnd, HandoffNotice } from './batch.ts';

/** What became of a batch. One that was left is not acknowledged: a later run reads it again. */
export type Delivery = 'acknowledged' | 'dead' | 'left';

export interface DeliveryPorts {
  readonly clock: Clock;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** Runs the command with the batch on its stdin. */
  readonly run: (batch: Batch, attempt: number) => Promise<CommandEnd>;
  /** Saves a batch that the command does not accept. Throws a `Failure`, which ends the run. */
  readonly deadLetter: (batch: Batch) => void;
  readonly notify: (notice: HandoffNotice) => void;
}

export interface DeliveryOptions {
  /** Attempts after which a batch goes to the dead-letter file. */
  readonly tries: number;
  /** Nothing else remembers a batch: when the run is stopped, it goes to the dead-letter file after the last attempt. */
  readonly forgetful: boolean;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Delivers one batch at a time: the same one again after a failure, until it is acknowledged or out of attempts. */
export function createDelivery(
  { clock, random, run, deadLetter, notify }: DeliveryPorts,
  { tries, forgetful }: DeliveryOptions,
): (batch: Batch, stop: AbortSignal) => Promise<Delivery> {
  // Shared by all batches: a command that fails for every batch is not tried faster for the next one.
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
      deadLetter(batch);
      notify({ kind: 'dead', batch, attempts: attempt, why: end.why });
      return 'dead';
    }
  };
}
