import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { LEAST_RATE_PER_MINUTE, RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { Notice, RateWindows, Ticket } from '../../contract/ports.ts';

/** What bounds a call: the key's own rate, or that and the slower one of `resolve`. */
export type LaneName = 'key' | 'resolve';

export interface LimiterOptions {
  /** Bound to one base URL and key; the lane `resolve` is shared by all keys. */
  readonly windows: RateWindows;
  readonly clock: Clock;
  /** Asks the service for the key's per-minute limit; null where it does not say. Sends exactly one request. */
  readonly askRate: () => Promise<number | null>;
  readonly notify?: ((notice: Notice) => void) | undefined;
}

/** Lets requests out no faster than their lanes allow. */
export interface Limiter {
  /** Resolves when a request may be sent. First come, first served; an abort leaves the queue. */
  acquire(lane: LaneName, signal?: AbortSignal): Promise<void>;
  /** A 429: nobody sends in the lane for `ms`. */
  refused(lane: LaneName, ms: number): Promise<void>;
  /** The key's limit, seen in passing. */
  learn(limit: number): Promise<void>;
}

/** A wait longer than this is told. */
export const SILENT_WAIT_MS = 2_000;
/** The most that is waited for a 429, be it one that another run was answered with. A full window takes half of it. */
export const MAX_WAIT_MS = 120_000;
/**
 * So many calls a minute go out before the limit is asked for. A key by contract may have less than any
 * plan: asking is free, and the lowest rate is assumed only if the service does not state one.
 */
const CALLS_BEFORE_ASKING = 9;
// Another process may learn the limit meanwhile: while it is not known, waits are cut into slices.
const SLICE_MS = 200;
// Stop waiting for the process that is fetching the limit after this many slices.
const SLICES = 15;
// A 429 that keeping to the limit should have prevented: the plan may have changed. Asked at most this often.
const DOUBT_MS = 60_000;
// What is kept beyond this run: limits are by the minute, and one absurd answer must not lock a key for years.
const LONGEST_BLOCK_MS = 15 * 60_000;

/** A limiter over windows that other processes may share. */
export function createLimiter(options: LimiterOptions): Limiter {
  const { windows, clock, notify } = options;
  let rate: number | null = null;
  let doubtful = false;
  let doubtedAt = Number.NEGATIVE_INFINITY;
  let tickets = 0;
  const nextTicket = (): Ticket => ++tickets;
  const queues = { key: createQueue(), resolve: createQueue() };

  // The limit could not be fetched.
  let untold = false;
  const assumed = () => rate ?? (untold ? LEAST_RATE_PER_MINUTE : CALLS_BEFORE_ASKING);

  async function learn(limit: number): Promise<void> {
    if (limit === rate || !(limit >= 1)) return;
    rate = limit;
    await windows.learn('key', limit);
  }

  /**
   * Asks for the limit, unless another process is at it: one slot behind the first ones is kept for that.
   * An unknown limit is not a failure.
   */
  async function ask(): Promise<void> {
    const { waitMs, known } = await windows.take('key', CALLS_BEFORE_ASKING + 1);
    if (known !== null) rate = known;
    else if (waitMs <= 0) {
      const told = await options.askRate().catch(() => null);
      if (told !== null) await learn(told);
      untold = rate === null;
    }
  }

  /** Whether the windows can be asked to book a place: with an assumed limit it would be the wrong one. */
  const knowsLimit = () => rate !== null || untold;

  async function takeKeySlot(signal: AbortSignal | undefined): Promise<void> {
    let ticket = nextTicket();
    let told = false;
    let slices = 0;
    await keeping(
      'key',
      () => ticket,
      async () => {
        for (;;) {
          const slot = await windows.take('key', assumed(), knowsLimit() ? ticket : undefined);
          const { waitMs, known } = slot;
          if (known !== null) {
            const grown = known > assumed();
            rate = known;
            // Refused by what was assumed, while more is allowed: try again with that.
            if (waitMs > 0 && grown) continue;
          }
          if (waitMs <= 0) {
            if (!doubtful) return;
            // The slot goes to the question whether the limit is still what it was; the call takes another.
            doubtful = false;
            ticket = nextTicket();
            const now = await options.askRate().catch(() => null);
            if (now !== null) await learn(now);
            continue;
          }
          if (!slot.queued && waitMs > MAX_WAIT_MS) throw toldToWait('key', waitMs);
          if (!knowsLimit()) {
            await ask();
            untold ||= rate === null && ++slices > SLICES;
            if (knowsLimit()) continue;
            await clock.sleep(SLICE_MS, signal);
            continue;
          }
          if (!told && waitMs > SILENT_WAIT_MS)
            notify?.({ kind: 'wait', ms: waitMs, reason: reasonOf('key', rate) });
          told = true;
          await clock.sleep(waitMs, signal);
        }
      },
    );
  }

  async function takeResolveSlot(signal: AbortSignal | undefined): Promise<void> {
    const ticket = nextTicket();
    let told = false;
    await keeping(
      'resolve',
      () => ticket,
      async () => {
        for (;;) {
          const { waitMs, queued } = await windows.take('resolve', RESOLVES_PER_MINUTE, ticket);
          if (waitMs <= 0) return;
          if (!queued && waitMs > MAX_WAIT_MS) throw toldToWait('resolve', waitMs);
          if (!told && waitMs > SILENT_WAIT_MS)
            notify?.({ kind: 'wait', ms: waitMs, reason: reasonOf('resolve', RESOLVES_PER_MINUTE) });
          told = true;
          await clock.sleep(waitMs, signal);
        }
      },
    );
  }

  /** Gives the booked place up where the wait for it ends without a slot. */
  async function keeping(lane: LaneName, ticket: () => Ticket, wait: () => Promise<void>): Promise<void> {
    try {
      await wait();
    } catch (error) {
      await windows.drop(lane, ticket());
      throw error;
    }
  }

  return {
    async acquire(lane, signal) {
      if (lane === 'resolve') await queues.resolve(() => takeResolveSlot(signal), signal);
      await queues.key(() => takeKeySlot(signal), signal);
    },
    async refused(lane, ms) {
      await windows.block(lane, Math.min(ms, LONGEST_BLOCK_MS));
      if (lane !== 'key' || rate === null || clock.mono() - doubtedAt < DOUBT_MS) return;
      doubtedAt = clock.mono();
      doubtful = true;
    },
    learn,
  };
}

const reasonOf = (lane: LaneName, limit: number | null) =>
  lane === 'resolve'
    ? `${limit} resolves a minute are allowed`
    : limit === null
      ? 'the rate limit of the key'
      : `the key allows ${limit} requests a minute`;

const toldToWait = (lane: LaneName, waitMs: number): Failure => {
  const what = lane === 'resolve' ? 'resolves from this address' : 'calls with this key';
  return new Failure('rate', `the service asked for no ${what} for another ${Math.ceil(waitMs / 1000)} s`, {
    code: 'RATE_LIMITED',
    retryable: true,
    retryAfter: Math.ceil(waitMs / 1000),
    hint: 'other programs may be using the same key or address; try again later',
  });
};

/** Runs one task at a time in the order of asking. An aborted one leaves the queue at once. */
function createQueue(): (task: () => Promise<void>, signal?: AbortSignal) => Promise<void> {
  let tail: Promise<unknown> = Promise.resolve();
  return (task, signal) => {
    const turn = tail.then(() => (signal?.aborted ? undefined : task()));
    tail = turn.catch(() => {});
    if (!signal) return turn;
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      turn.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  };
}
