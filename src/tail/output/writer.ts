import { Job } from '../background-job.ts';
import type { LastPost } from '../health.ts';
import type { TailSink } from '../ports.ts';
import type { TailRow } from '../post-row.ts';

/** Writes rows, one write at a time: during a write, the tail prints no further rows. */
export class TailWriter {
  /** Whether the reader has closed the output. */
  closed = false;
  /** Whether a write has failed. After that, neither rows nor a checkpoint must be written. */
  failed = false;
  /** The number of rows written whose posts are older than the start of the run; `rows` excludes them. */
  earlier = 0;
  lastPost: LastPost | null = null;
  #rows = 0;
  #pending = 0;
  #job: Job<boolean> | undefined;
  readonly #sink: TailSink;
  readonly #wake: () => void;
  readonly #now: () => number;

  constructor(sink: TailSink, wake: () => void, now: () => number) {
    this.#sink = sink;
    this.#wake = wake;
    this.#now = now;
  }

  get rows(): number {
    return Math.max(0, this.#rows - (this.#sink.pending?.() ?? 0));
  }

  get isWriting(): boolean {
    return this.#job !== undefined;
  }

  /** Whether a write is in progress. Throws the error of a failed write. */
  busy(): boolean {
    const waiting = this.#job ? undefined : this.#sink.waits?.();
    if (waiting) this.#start(() => waiting.then(() => true), 0);
    const outcome = this.#job?.outcome;
    if (outcome) {
      this.#job = undefined;
      if ('error' in outcome) {
        this.failed = true;
        throw outcome.error;
      }
      this.#count(outcome.value, this.#pending);
    }
    return this.isWriting;
  }

  /** Writes rows. With `counted` false, they count as `earlier`. */
  push(batch: readonly TailRow[], counted = true): void {
    if (batch.length === 0) return;
    const many = counted ? batch.length : 0;
    this.earlier += batch.length - many;
    const at = batch.findLast((row) => row.at !== null)?.at ?? null;
    if (at !== null) this.lastPost = { at, lagMs: Math.max(0, this.#now() - at) };
    let written: ReturnType<TailSink['write']>;
    try {
      written = this.#sink.write(batch);
    } catch (error) {
      this.failed = true;
      throw error;
    }
    if (typeof written === 'boolean') this.#count(written, many);
    else this.#start(async () => written, many);
  }

  /** Starts to wait until the operating system has received all rows. */
  drain(): void {
    this.#start(() => this.#sink.flush(), 0);
  }

  settled = async (): Promise<void> => this.#job?.settled;

  #start(work: () => Promise<boolean>, rows: number): void {
    this.#pending = rows;
    this.#job = new Job(this.#wake, work);
  }

  #count(open: boolean, rows: number): void {
    if (open) this.#rows += rows;
    else this.closed = true;
  }
}
