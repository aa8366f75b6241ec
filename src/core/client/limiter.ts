import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { LEAST_RATE_PER_MINUTE, RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { Notice, RateWindows, Ticket } from '../../contract/ports.ts';

/** The rate limit of a call: the key's own, or also the slower one of `resolve`. */
export type LaneName = 'key' | 'resolve';

export interface LimiterOptions {
  /** Belong to one base URL and key; all keys share the lane `resolve`. */
  readonly windows: RateWindows;
  readonly clock: Clock;
  /**
   * Requests the key's per-minute limit; null if the service does not state it. Sends exactly one request.
   */
  readonly askRate: () => Promise<number | null>;
  readonly notify?: ((notice: Notice) => void) | undefined;
}

/** Delays requests to the rate that their lanes allow. */
export interface Limiter {
  /** Resolves when a request may be sent, in the order of the calls. An abort leaves the queue. */
  acquire(lane: LaneName, signal?: AbortSignal): Promise<void>;
  /** After a 429: blocks the lane for `ms`. */
  refused(lane: LaneName, ms: number): Promise<void>;
  /** Records the key's limit when an answer mentions it. */
  learn(limit: number): Promise<void>;
  /** The key's limit; null while unknown. */
  readonly rate: number | null;
}

/** Waits longer than this are reported. */
export const SILENT_WAIT_MS = 2_000;
/**
 * The maximum wait for a 429, including one that another process received. A full window needs half of it.
 */
export const MAX_WAIT_MS = 120_000;
/**
 * The number of calls per minute that are sent before the limit is requested. A key under contract may have
 * a lower limit than any plan. The request is free; the lowest rate of all plans is assumed only if the
 * service does not state the limit.
 */
const CALLS_BEFORE_ASKING = 9;
// Another process may learn the limit meanwhile, so waits are split into slices until it is known.
const SLICE_MS = 200;
// Stop waiting for the process that is fetching the limit after this many slices.
const SLICES = 15;
// A 429 despite the limit suggests that the plan has changed. The limit is requested again at most this
// often.
const RECHECK_MS = 60_000;
// Longest block that is saved beyond this run. Limits are per minute, and one absurd answer must not lock a
// key for years.
const LONGEST_BLOCK_MS = 15 * 60_000;

/** A limiter over windows that other processes may share. */
export function createLimiter(options: LimiterOptions): Limiter {
  const { windows, clock, notify } = options;
  let rate: number | null = null;
  let recheck = false;
  let recheckedAt = Number.NEGATIVE_INFINITY;
  let tickets = 0;
  const nextTicket = (): Ticket => ++tickets;
  const queues = { key: createQueue(), resolve: createQueue() };

  // True once the limit could not be fetched.
  let isUnavailable = false;
  const assumed = () => rate ?? (isUnavailable ? LEAST_RATE_PER_MINUTE : CALLS_BEFORE_ASKING);

  async function learn(limit: number): Promise<void> {
    if (limit === rate || !(limit >= 1)) return;
    rate = limit;
    await windows.learn('key', limit);
  }

  /**
   * Requests the limit, unless another process is doing so: one slot after the first ones is reserved for
   * it. An unknown limit is not an error.
   */
  async function ask(): Promise<void> {
    const { waitMs, known } = await windows.take('key', CALLS_BEFORE_ASKING + 1);
    if (known !== null) rate = known;
    else if (waitMs <= 0) {
      const stated = await options.askRate().catch(() => null);
      if (stated !== null) await learn(stated);
      isUnavailable = rate === null;
    }
  }

  /** Whether a place in the queue can be reserved. With an assumed limit, it would be the wrong place. */
  const knowsLimit = () => rate !== null || isUnavailable;

  async function takeKeySlot(signal: AbortSignal | undefined): Promise<void> {
    let ticket = nextTicket();
    let isReported = false;
    let slices = 0;
    await holdingPlace(
      'key',
      () => ticket,
      async () => {
        for (;;) {
          const slot = await windows.take('key', assumed(), knowsLimit() ? ticket : undefined);
          const { waitMs, known } = slot;
          if (known !== null) {
            const grown = known > assumed();
            rate = known;
            // The assumed limit refused the call, but the known one is higher: try again with that.
            if (waitMs > 0 && grown) continue;
          }
          if (waitMs <= 0) {
            if (!recheck) return;
            // Use this slot to ask whether the limit has changed; the call takes another slot.
            recheck = false;
            ticket = nextTicket();
            const now = await options.askRate().catch(() => null);
            if (now !== null) await learn(now);
            continue;
          }
          if (!slot.queued && waitMs > MAX_WAIT_MS) throw waitTooLong('key', waitMs);
          if (!knowsLimit()) {
            await ask();
            isUnavailable ||= rate === null && ++slices > SLICES;
            if (knowsLimit()) continue;
            await clock.sleep(SLICE_MS, signal);
            continue;
          }
          if (!isReported && waitMs > SILENT_WAIT_MS)
            notify?.({ kind: 'wait', ms: waitMs, reason: reasonOf('key', rate) });
          isReported = true;
          await clock.sleep(waitMs, signal);
        }
      },
    );
  }

  async function takeResolveSlot(signal: AbortSignal | undefined): Promise<void> {
    const ticket = nextTicket();
    let isReported = false;
    await holdingPlace(
      'resolve',
      () => ticket,
      async () => {
        for (;;) {
          const { waitMs, queued } = await windows.take('resolve', RESOLVES_PER_MINUTE, ticket);
          if (waitMs <= 0) return;
          if (!queued && waitMs > MAX_WAIT_MS) throw waitTooLong('resolve', waitMs);
          if (!isReported && waitMs > SILENT_WAIT_MS)
            notify?.({ kind: 'wait', ms: waitMs, reason: reasonOf('resolve', RESOLVES_PER_MINUTE) });
          isReported = true;
          await clock.sleep(waitMs, signal);
        }
      },
    );
  }

  /** Gives up the reserved place if the wait ends without a slot. */
  async function holdingPlace(
    lane: LaneName,
    ticket: () => Ticket,
    wait: () => Promise<void>,
  ): Promise<void> {
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
      if (lane !== 'key' || rate === null || clock.mono() - recheckedAt < RECHECK_MS) return;
      recheckedAt = clock.mono();
      recheck = true;
    },
    learn,
    get rate() {
      return rate;
    },
  };
}

const reasonOf = (lane: LaneName, limit: number | null) =>
  lane === 'resolve'
    ? `${limit} resolves per minute are allowed`
    : limit === null
      ? 'the rate limit of the key'
      : `the key allows ${limit} requests per minute`;

const waitTooLong = (lane: LaneName, waitMs: number): Failure => {
  const what = lane === 'resolve' ? 'resolves from this address' : 'calls with this key';
  return new Failure('rate', `the service allows no ${what} for another ${Math.ceil(waitMs / 1000)} s`, {
    code: 'RATE_LIMITED',
    retryable: true,
    retryAfter: Math.ceil(waitMs / 1000),
    hint: 'other programs may be using the same key or address; try again later',
  });
};

/** Runs one task at a time in the order of the calls. An aborted task leaves the queue at once. */
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
