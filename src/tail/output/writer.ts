import { type Job, startJob } from '../background-job.ts';
import type { LastPost } from '../health.ts';
import type { TailSink } from '../ports.ts';
import type { TailRow } from '../post-row.ts';

/** Writes rows, one write at a time: during a write, the tail prints no further rows. */
export interface TailWriter {
  /** Whether a write is in progress. Throws the error of a failed write. */
  busy(): boolean;
  readonly isWriting: boolean;
  /** Whether the reader has closed the output. */
  readonly closed: boolean;
  /** Whether a write has failed. After that, neither rows nor a checkpoint must be written. */
  readonly failed: boolean;
  /** The number of rows written, without those in `earlier`. */
  readonly rows: number;
  /** The number of rows written whose posts are older than the start of the run. */
  readonly earlier: number;
  readonly lastPost: LastPost | null;
  /** Writes rows. With `counted` false, they count as `earlier`: they were posted before the start of the run. */
  push(rows: readonly TailRow[], counted?: boolean): void;
  /** Starts to wait until the operating system has received all rows. */
  drain(): void;
  settled(): Promise<void>;
}

export function createTailWriter(sink: TailSink, wake: () => void, now: () => number): TailWriter {
  let job: Job<boolean> | undefined;
  let pending = 0;
  let rows = 0;
  let earlier = 0;
  let closed = false;
  let failed = false;
  let lastPost: LastPost | null = null;

  const count = (open: boolean, many: number) => {
    if (open) rows += many;
    else closed = true;
  };

  const look = () => {
    const waiting = job ? undefined : sink.waits?.();
    if (waiting) {
      pending = 0;
      job = startJob(wake, async () => waiting.then(() => true));
    }
    const outcome = job?.outcome;
    if (!outcome) return;
    job = undefined;
    if ('error' in outcome) {
      failed = true;
      throw outcome.error;
    }
    count(outcome.value, pending);
  };

  return {
    busy() {
      look();
      return job !== undefined;
    },
    get isWriting() {
      return job !== undefined;
    },
    get closed() {
      return closed;
    },
    get failed() {
      return failed;
    },
    get rows() {
      return Math.max(0, rows - (sink.pending?.() ?? 0));
    },
    get earlier() {
      return earlier;
    },
    get lastPost() {
      return lastPost;
    },
    push(batch, counted = true) {
      if (batch.length === 0) return;
      const many = counted ? batch.length : 0;
      earlier += batch.length - many;
      const at = batch.findLast((row) => row.at !== null)?.at ?? null;
      if (at !== null) lastPost = { at, lagMs: Math.max(0, now() - at) };
      let written: ReturnType<TailSink['write']>;
      try {
        written = sink.write(batch);
      } catch (error) {
        failed = true;
        throw error;
      }
      if (typeof written === 'boolean') return count(written, many);
      pending = many;
      job = startJob(wake, () => written);
    },
    drain() {
      pending = 0;
      job = startJob(wake, () => sink.flush());
    },
    settled: async () => job?.settled,
  };
}
