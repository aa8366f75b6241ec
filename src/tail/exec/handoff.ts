import type { Clock } from '../../base/clock.ts';
import type { TailSink } from '../ports.ts';
import type { TailRow } from '../post-row.ts';
import type { Batch, Delivery, HandoffRow } from './delivery.ts';

/** Delivers in order. `flush` waits until every row is acknowledged or in the dead-letter file. */
interface Handoff extends TailSink {
  delivered(onChange: () => void): () => number;
  /** After a stop with a checkpoint, waits only for the current batch. Throws if a batch is neither sent nor saved. */
  end(): Promise<void>;
  readonly written: number;
  readonly queued: readonly HandoffRow[];
}

const BATCH_BYTES = 8 * 1024 * 1024;

type Waiting = HandoffRow & { readonly since: number };

export function createHandoff(options: {
  readonly clock: Clock;
  readonly encode: (row: TailRow) => Uint8Array;
  readonly deliver: (batch: Batch, stop: AbortSignal) => Promise<Delivery>;
  /** The maximum number of rows per batch, and how long an incomplete batch waits for further rows. */
  readonly batch: number;
  readonly lingerMs: number;
  /** Whether a stopped run hands over all rows before it ends. True for runs without a checkpoint. */
  readonly forgetful: boolean;
  readonly stop: AbortSignal;
}): Handoff {
  const { clock, encode, deliver, stop, lingerMs, forgetful } = options;
  let queue: Waiting[] = [];
  let bytes = 0;
  let written = 0;
  let done = 0;
  let started = 0;
  let busy = false;
  let ending = false;
  let over = false;
  let failure: { readonly error: unknown } | undefined;
  let timer: AbortController | undefined;
  const waiters: (() => void)[] = [];
  const listeners: (() => void)[] = [];

  const isFull = () => queue.length >= options.batch || bytes >= BATCH_BYTES;
  const changed = () => {
    for (const resume of waiters.splice(0)) resume();
  };
  /** Waits until a condition is true, or until the handoff has ended; throws if it ended with a failure. */
  const until = async (holds: () => boolean) => {
    while (!holds() && !over) await new Promise<void>((resolve) => waiters.push(resolve));
    if (failure) throw failure.error;
  };
  const finish = () => {
    over = true;
    timer?.abort();
    changed();
  };

  const cut = (): Batch => {
    let size = 0;
    let count = 0;
    for (const { line } of queue) {
      if (count >= options.batch || (count > 0 && size + line.length > BATCH_BYTES)) break;
      size += line.length;
      count++;
    }
    const rows = queue.slice(0, count);
    queue = queue.slice(count);
    bytes -= size;
    started++;
    return { number: started, rows };
  };

  const handOver = async (batch: Batch) => {
    busy = true;
    try {
      const outcome = await deliver(batch, stop);
      if (outcome === 'left') return finish();
      done += batch.rows.length;
      for (const listener of listeners) listener();
    } catch (error) {
      failure = { error };
      finish();
    } finally {
      busy = false;
      changed();
    }
    pump();
  };

  const linger = (first: Waiting) => {
    if (timer) return;
    const own = new AbortController();
    timer = own;
    const ms = Math.max(0, first.since + lingerMs - clock.mono());
    clock.sleep(ms, own.signal).then(
      () => {
        timer = undefined;
        pump();
      },
      () => {},
    );
  };

  const pump = () => {
    if (busy || over) return;
    const [first] = queue;
    if (stop.aborted && !forgetful && (first || ending)) return finish();
    if (!first) return ending ? finish() : undefined;
    const due = isFull() || ending || clock.mono() >= first.since + lingerMs;
    if (due) void handOver(cut());
    else linger(first);
  };

  return {
    write(rows) {
      if (failure) throw failure.error;
      const since = clock.mono();
      for (const row of rows) {
        const line = encode(row);
        queue.push({ id: row.id, at: row.at, line, since });
        bytes += line.length;
      }
      written += rows.length;
      pump();
      // Accept rows even after a stop: this run or the next one hands them over.
      if (!isFull()) return true;
      return until(() => !isFull()).then(() => true);
    },
    async flush() {
      const target = written;
      await until(() => done >= target);
      return done >= target;
    },
    async end() {
      ending = true;
      timer?.abort();
      timer = undefined;
      pump();
      await until(() => false);
    },
    delivered(onChange) {
      listeners.push(onChange);
      return () => done;
    },
    get written() {
      return written;
    },
    get queued() {
      return queue;
    },
  };
}
