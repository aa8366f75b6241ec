import type { Clock } from '../../base/clock.ts';
import type { Writer } from '../ports.ts';
import type { TailRow } from '../post-row.ts';
import type { Batch, Delivery, HandoffRow } from './delivery.ts';

const BATCH_BYTES = 8 * 1024 * 1024;

type Waiting = HandoffRow & { readonly since: number };

interface Handing {
  readonly clock: Clock;
  readonly encode: (row: TailRow) => Uint8Array;
  readonly deliver: (batch: Batch, stop: AbortSignal) => Promise<Delivery>;
  /**
   * The maximum number of rows per batch, and how long an incomplete batch waits for further rows.
   */
  readonly batch: number;
  readonly lingerMs: number;
  /**
   * Whether a stopped run hands over all rows before it ends. True for runs without a checkpoint.
   */
  readonly forgetful: boolean;
  readonly stop: AbortSignal;
}

/**
 * Hands rows to a command in batches, in order. `flush` waits until each row is acknowledged or in
 * the dead-letter file.
 */
export class CommandWriter implements Writer {
  /** The number of rows that were accepted. */
  written = 0;
  #queue: Waiting[] = [];
  #bytes = 0;
  #done = 0;
  #started = 0;
  #isBusy = false;
  #isEnding = false;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #timer: AbortController | undefined;
  readonly #waiters: (() => void)[] = [];
  readonly #listeners: (() => void)[] = [];
  readonly #handing: Handing;

  constructor(handing: Handing) {
    this.#handing = handing;
  }

  /** The rows that are in no batch yet. */
  get queued(): readonly HandoffRow[] {
    return this.#queue;
  }

  write(rows: readonly TailRow[]): boolean | Promise<boolean> {
    if (this.#failure) throw this.#failure.error;
    const since = this.#handing.clock.mono();
    for (const row of rows) {
      const line = this.#handing.encode(row);
      this.#queue.push({ id: row.id, at: row.at, line, since });
      this.#bytes += line.length;
    }
    this.written += rows.length;
    this.#pump();
    // Accept rows even after a stop: this run or the next one hands them over.
    if (!this.#isFull) return true;
    return this.#until(() => !this.#isFull).then(() => true);
  }

  async flush(): Promise<boolean> {
    const target = this.written;
    await this.#until(() => this.#done >= target);
    return this.#done >= target;
  }

  delivered(onChange: () => void): () => number {
    this.#listeners.push(onChange);
    return () => this.#done;
  }

  /**
   * After a stop with a checkpoint, waits only for the current batch. Throws if a batch is neither
   * sent nor saved.
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#timer?.abort();
    this.#timer = undefined;
    this.#pump();
    await this.#until(() => false);
  }

  get #isFull(): boolean {
    return this.#queue.length >= this.#handing.batch || this.#bytes >= BATCH_BYTES;
  }

  /**
   * Waits until a condition is true, or until the handoff has ended; throws if it ended with a
   * failure.
   */
  async #until(holds: () => boolean): Promise<void> {
    while (!holds() && !this.#isOver)
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    if (this.#failure) throw this.#failure.error;
  }

  #changed(): void {
    for (const resume of this.#waiters.splice(0)) resume();
  }

  #finish(): void {
    this.#isOver = true;
    this.#timer?.abort();
    this.#changed();
  }

  /** Begins the next batch if it is due. */
  #pump(): void {
    if (this.#isBusy || this.#isOver) return;
    const { clock, stop, forgetful, lingerMs } = this.#handing;
    const [first] = this.#queue;
    const isLeft = stop.aborted && !forgetful && (first !== undefined || this.#isEnding);
    if (isLeft || (!first && this.#isEnding)) {
      this.#finish();
      return;
    }
    if (!first) return;
    const isDue = this.#isFull || this.#isEnding || clock.mono() >= first.since + lingerMs;
    if (isDue) void this.#handOver(this.#cut());
    else this.#linger(first);
  }

  #cut(): Batch {
    let size = 0;
    let count = 0;
    for (const { line } of this.#queue) {
      const isTooLarge = count > 0 && size + line.length > BATCH_BYTES;
      if (count >= this.#handing.batch || isTooLarge) break;
      size += line.length;
      count++;
    }
    const rows = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    this.#bytes -= size;
    this.#started++;
    return { number: this.#started, rows };
  }

  async #handOver(batch: Batch): Promise<void> {
    const { deliver, stop } = this.#handing;
    this.#isBusy = true;
    try {
      if ((await deliver(batch, stop)) === 'left') {
        this.#finish();
        return;
      }
      this.#done += batch.rows.length;
      for (const listener of this.#listeners) listener();
    } catch (error) {
      this.#failure = { error };
      this.#finish();
    } finally {
      this.#isBusy = false;
      this.#changed();
    }
    this.#pump();
  }

  #linger(first: Waiting): void {
    if (this.#timer) return;
    const { clock, lingerMs } = this.#handing;
    const own = new AbortController();
    this.#timer = own;
    const ms = Math.max(0, first.since + lingerMs - clock.mono());
    clock.sleep(ms, own.signal).then(
      () => {
        this.#timer = undefined;
        this.#pump();
      },
      () => {},
    );
  }
}
