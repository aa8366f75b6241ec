import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { LEAST_RATE_PER_MINUTE, RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { Notice } from '../../contract/ports/client.ts';
import type { RateWindows } from '../../contract/ports/rate-windows.ts';
import { createQueue } from './queue.ts';

/** The rate limits that apply to a call: the key's limit alone, or also the lower limit of `resolve`. */
export type LaneName = 'key' | 'resolve';

export const SILENT_WAIT_MS = 2_000;
/** A call fails if its lane is blocked for longer, after a 429. Waiting for other calls in the queue may take longer. */
export const MAX_WAIT_MS = 120_000;
/** Then trdr fetches the key's limit, free of charge: some contracts have a lower limit than any plan. */
const CALLS_BEFORE_ASKING = 9;
const SLICE_MS = 200;
// Stop waiting for the process that is fetching the limit after 15 slices (3 s).
const SLICES = 15;
// A 429 within the limit suggests that the plan has changed: fetch the limit again, at most once per minute.
const RECHECK_MS = 60_000;
/** A call that leaves this late counts as leaving in time; less than RATE_WINDOW_MS exceeds a minute. */
const LATE_MS = 250;
/** One absurd Retry-After, such as milliseconds instead of seconds, must not block a key or stop a tail for hours. */
export const LONGEST_BLOCK_MS = 15 * 60_000;

export type Limiter = ReturnType<typeof createLimiter>;

/** `askRate` fetches the limit of the key with exactly one call; null if the answer does not contain it. */
export function createLimiter(
  windows: RateWindows,
  clock: Clock,
  askRate: (signal: AbortSignal | undefined) => Promise<number | null>,
  notify: (notice: Notice) => void = () => {},
) {
  let rate: number | null = null;
  let recheck = false;
  let recheckedAt = Number.NEGATIVE_INFINITY;
  let tickets = 0;
  const queues = { key: createQueue(), resolve: createQueue() };

  let isUnavailable = false;
  const assumed = () => rate ?? (isUnavailable ? LEAST_RATE_PER_MINUTE : CALLS_BEFORE_ASKING);

  async function learn(limit: number): Promise<void> {
    if (limit === rate || !(limit >= 1)) return;
    rate = limit;
    await windows.learn('key', limit);
  }

  /** Only the process that gets the first slot after CALLS_BEFORE_ASKING requests the limit. */
  async function ask(signal: AbortSignal | undefined): Promise<void> {
    const { waitMs, known } = await windows.take('key', CALLS_BEFORE_ASKING + 1);
    if (known !== null) rate = known;
    else if (waitMs <= 0) {
      await request(signal);
      isUnavailable = rate === null;
    }
  }

  async function request(signal: AbortSignal | undefined): Promise<void> {
    const stated = await askRate(signal).catch(() => null);
    signal?.throwIfAborted();
    if (stated !== null) await learn(stated);
  }

  /** Before that, calls do not enter the queue, because their waits would be calculated from CALLS_BEFORE_ASKING. */
  const knowsLimit = () => rate !== null || isUnavailable;

  /** Waits until the call may leave. It keeps its ticket, and thus its place in the queue. */
  async function wait(
    lane: LaneName,
    ticket: number,
    signal: AbortSignal | undefined,
    until: number,
  ): Promise<void> {
    let isReported = false;
    let slices = 0;
    for (;;) {
      const limit = lane === 'resolve' ? RESOLVES_PER_MINUTE : assumed();
      const hasLimit = lane === 'resolve' || knowsLimit();
      const { waitMs, known, queued } = await windows.take(
        lane,
        limit,
        hasLimit ? ticket : undefined,
      );
      if (lane === 'key' && known !== null) {
        const grown = known > assumed();
        rate = known;
        // The assumed limit was reached, but a higher limit is known by now: try again.
        if (waitMs > 0 && grown) continue;
      }
      if (waitMs <= 0) return;
      if (!queued && waitMs > MAX_WAIT_MS) throw waitTooLong(lane, waitMs);
      if (!hasLimit) {
        await ask(signal);
        isUnavailable ||= rate === null && ++slices > SLICES;
        if (!knowsLimit()) await clock.sleep(SLICE_MS, signal);
        continue;
      }
      if (clock.mono() + waitMs > until) throw waitTooLong(lane, waitMs, false);
      if (!isReported && waitMs > SILENT_WAIT_MS)
        notify({ kind: 'wait', ms: waitMs, reason: reasonOf(lane, limit) });
      isReported = true;
      await clock.sleep(waitMs, signal);
    }
  }

  /** Takes a slot of a lane. A call that fails leaves the queue of all machines. */
  async function take(
    lane: LaneName,
    signal: AbortSignal | undefined,
    until: number,
  ): Promise<number> {
    const ticket = ++tickets;
    try {
      await wait(lane, ticket, signal, until);
    } catch (error) {
      await windows.drop(lane, ticket);
      throw error;
    }
    if (lane !== 'key' || !recheck) return ticket;
    // Use this slot to request the limit, which may have changed; the call itself uses the next slot.
    recheck = false;
    await request(signal);
    return await take(lane, signal, until);
  }

  return {
    /** In order. Rejects if a 429 blocks the lane beyond MAX_WAIT_MS, or `until` (of `clock.mono`) would pass. */
    async acquire(
      lane: LaneName,
      signal?: AbortSignal,
      until: number = Number.POSITIVE_INFINITY,
    ): Promise<void> {
      const slots = new Map<LaneName, { readonly ticket: number; readonly at: number }>();
      const lanes: readonly LaneName[] = lane === 'resolve' ? ['resolve', 'key'] : ['key'];
      while (slots.size < lanes.length) {
        for (const each of lanes) {
          if (slots.has(each)) continue;
          const ticket = await queues[each](() => take(each, signal, until), signal);
          slots.set(each, { ticket, at: clock.mono() });
        }
        // The call leaves now, perhaps long after it got its slot in the first lane.
        for (const [each, { ticket, at }] of slots) {
          const lateMs = clock.mono() - at;
          if (lateMs > LATE_MS && !(await windows.depart(each, ticket, lateMs))) slots.delete(each);
        }
      }
    },
    async refused(lane: LaneName, ms: number): Promise<void> {
      await windows.block(lane, Math.min(ms, LONGEST_BLOCK_MS));
      if (lane !== 'key' || rate === null || clock.mono() - recheckedAt < RECHECK_MS) return;
      recheckedAt = clock.mono();
      recheck = true;
    },
    learn,
    get rate(): number | null {
      return rate;
    },
  };
}

const reasonOf = (lane: LaneName, limit: number) =>
  lane === 'resolve'
    ? `the service allows ${limit} resolves per minute`
    : `the key allows ${limit} requests per minute`;

const waitTooLong = (lane: LaneName, waitMs: number, retryable = true): Failure => {
  const what = lane === 'resolve' ? 'resolves from this IP address' : 'calls with this key';
  return new Failure(
    'rate',
    `the service accepts no ${what} for another ${Math.ceil(waitMs / 1000)} s`,
    {
      code: 'RATE_LIMITED',
      retryable,
      retryAfter: Math.ceil(waitMs / 1000),
      hint: 'other programs may be using the same key or IP address; try again later',
    },
  );
};
