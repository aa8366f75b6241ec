import { type Backoff, type Clock, createBackoff } from '../../base/clock.ts';

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
      /**
       * The exit code as a shell reports it: 128 plus the signal number, or 127 if the command is
       * not found.
       */
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

interface HandoffOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly run: (batch: Batch, attempt: number) => Promise<CommandEnd>;
  /** Saves a batch that the command does not accept. If it throws a `Failure`, the run ends. */
  readonly deadLetter: (batch: Batch) => void | Promise<void>;
  readonly notify: (notice: HandoffNotice) => void;
  readonly tries: number;
  /**
   * Whether a batch that fails while the run is stopping is a dead letter. True for runs without a
   * checkpoint.
   */
  readonly forgetful: boolean;
}

/** Delivers batches to a command with retries, and counts what became of them. */
export class Handoff {
  #batches = 0;
  #rows = 0;
  #retries = 0;
  #deadBatches = 0;
  #deadRows = 0;
  #lastExit: number | null = null;
  /** The batch that is being delivered, or that a stopped run did not deliver. */
  #current: Batch | undefined;
  /**
   * All batches share one backoff, because a command that fails for every batch would otherwise run
   * too often.
   */
  readonly #backoff: Backoff;
  readonly #options: HandoffOptions;

  constructor(options: HandoffOptions) {
    this.#options = options;
    this.#backoff = createBackoff(FIRST_WAIT_MS, LONGEST_WAIT_MS, options.random);
  }

  async deliver(batch: Batch, stop: AbortSignal): Promise<Delivery> {
    this.#current = batch;
    const outcome = await this.#tryUntil(batch, stop);
    // The batch that a stopped run did not deliver still counts as pending: it is not acknowledged.
    if (outcome === 'left') return outcome;
    this.#current = undefined;
    if (outcome === 'acknowledged') {
      this.#batches++;
      this.#rows += batch.rows.length;
    } else {
      this.#deadBatches++;
      this.#deadRows += batch.rows.length;
    }
    return outcome;
  }

  /** The state for monitoring. `queued` are the rows that are not in a batch yet. */
  health(queued: readonly HandoffRow[]): HandoffHealth {
    const pending = [...(this.#current?.rows ?? []), ...queued];
    const times = pending.flatMap(({ at }) => (at === null ? [] : [at]));
    return {
      batches: this.#batches,
      rows: this.#rows,
      retries: this.#retries,
      deadBatches: this.#deadBatches,
      deadRows: this.#deadRows,
      lastExit: this.#lastExit,
      pendingRows: pending.length,
      oldestAt: times.length === 0 ? null : times.reduce((least, at) => Math.min(least, at)),
    };
  }

  /** Attempts a delivery until it succeeds, the run stops, or no attempts are left. */
  async #tryUntil(batch: Batch, stop: AbortSignal): Promise<Delivery> {
    const { tries, forgetful, deadLetter, notify } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const end = await this.#attempt(batch, attempt);
      if (end.ok) return 'acknowledged';
      if (attempt < tries && !stop.aborted) {
        await this.#wait(batch, attempt, end.why, stop);
        if (!stop.aborted) continue;
      }
      if (attempt < tries && !forgetful) return 'left';
      await deadLetter(batch);
      notify({ kind: 'dead', batch, attempts: attempt, why: end.why });
      return 'dead';
    }
  }

  async #attempt(batch: Batch, attempt: number): Promise<CommandEnd> {
    if (attempt > 1) this.#retries++;
    const end = await this.#options.run(batch, attempt);
    this.#lastExit = end.ok ? 0 : end.code;
    if (!end.ok) return end;
    this.#backoff.reset();
    if (attempt > 1) this.#options.notify({ kind: 'recovered', batch, attempts: attempt });
    return end;
  }

  async #wait(batch: Batch, attempt: number, why: string, stop: AbortSignal): Promise<void> {
    const { clock, notify } = this.#options;
    const waitMs = this.#backoff.next();
    notify({ kind: 'failed', batch, attempt, why, waitMs });
    await clock.sleep(waitMs, stop).catch(() => {});
  }
}
