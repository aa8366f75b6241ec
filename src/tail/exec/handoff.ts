import type { Clock } from '../../base/clock.ts';
import type { TailSink } from '../ports.ts';
import type { TailRow } from '../row.ts';
import type { Batch, HandoffRow } from './batch.ts';
import type { Delivery } from './deliver.ts';

/** Gathers rows to batches and hands them over one at a time, in order. As the sink of a tail, `flush` waits for the acknowledgement. */
export interface Handoff extends TailSink {
  /** Hands over what is left, and waits for it; throws if that failed. No row may be written after it. */
  end(): Promise<void>;
  /** Rows that were written. */
  readonly written: number;
  readonly counts: HandoffCounts;
}

/** What a run handed over. */
export interface HandoffCounts {
  readonly batches: number;
  /** Rows that the command acknowledged, and those that went to the dead-letter file. */
  readonly acknowledged: number;
  readonly dead: number;
  /** Rows that a stopped run did not hand over. */
  readonly left: number;
}

export interface HandoffParts {
  readonly clock: Clock;
  readonly encode: (row: TailRow) => Uint8Array;
  readonly deliver: (batch: Batch, stop: AbortSignal) => Promise<Delivery>;
  /** Records that a batch need not be handed over again; `end` counts the rows of the run up to its last one. */
  readonly acknowledged: (batch: Batch, end: number) => void;
}

export interface HandoffOptions {
  /** Rows of a batch at most. */
  readonly batch: number;
  /** How long a batch that is not full waits for more rows. */
  readonly lingerMs: number;
  /** Nothing else remembers the rows: a run that is stopped hands the rest over before it ends. */
  readonly forgetful: boolean;
  readonly stop: AbortSignal;
}

/** A batch is not filled further at this size, so that long posts cannot take memory without bound. */
const BATCH_BYTES = 8 * 1024 * 1024;

type Waiting = HandoffRow & { readonly since: number };

export function createHandoff(parts: HandoffParts, options: HandoffOptions): Handoff {
  const { clock, encode, deliver, acknowledged } = parts;
  const { stop, lingerMs, forgetful } = options;
  let queue: Waiting[] = [];
  let bytes = 0;
  let written = 0;
  /** Rows of batches that are done. */
  let done = 0;
  let batches = 0;
  let dead = 0;
  /** Rows up to here are handed over without waiting for a full batch. */
  let urgentTo = 0;
  let flushed = false;
  let busy = false;
  let ending = false;
  let over = false;
  let failure: { readonly error: unknown } | undefined;
  let timer: AbortController | undefined;
  const waiters: (() => void)[] = [];

  const isFull = () => queue.length >= options.batch || bytes >= BATCH_BYTES;
  const changed = () => {
    for (const resume of waiters.splice(0)) resume();
  };
  /** Waits until something holds, or until nothing more will be handed over. */
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
    batches++;
    return { number: batches, rows };
  };

  const handOver = async (batch: Batch) => {
    busy = true;
    try {
      const outcome = await deliver(batch, stop);
      if (outcome === 'left') return finish();
      done += batch.rows.length;
      if (outcome === 'dead') dead += batch.rows.length;
      acknowledged(batch, done);
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

  /** Starts the next batch when it is due and no other is under way. */
  const pump = () => {
    if (busy || over) return;
    const [first] = queue;
    if (stop.aborted && !forgetful && (first || ending)) return finish();
    if (!first) return ending ? finish() : undefined;
    const due = isFull() || ending || done < urgentTo || clock.mono() >= first.since + lingerMs;
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
      // A stopped run takes them too: they are left for the next one.
      if (!isFull()) return true;
      return until(() => !isFull()).then(() => true);
    },
    async flush() {
      const target = written;
      // A tail prints nothing until its first checkpoint is saved: that one must not wait for a batch to fill.
      if (!flushed) urgentTo = target;
      flushed = true;
      pump();
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
    get written() {
      return written;
    },
    get counts() {
      return { batches, acknowledged: done - dead, dead, left: written - done };
    },
  };
}
