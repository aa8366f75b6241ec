import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { LEAST_RATE_PER_MINUTE, RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { Notice } from '../../contract/ports/client.ts';
import type { RateWindows } from '../../contract/ports/rate-windows.ts';
import { createQueue } from './queue.ts';

/**
 * The rate limits that apply to a call: the key's limit alone, or also the lower limit of
 * `resolve`.
 */
export type LaneName = 'key' | 'resolve';

/** Fetches the limit of the key with exactly one call; null if the answer does not contain it. */
export type AskRate = (signal: AbortSignal | undefined) => Promise<number | null>;

/** Shorter waits are not reported. */
export const SILENT_WAIT_MS = 2_000;
/**
 * A call fails if its lane is blocked for longer, after a 429 of this or another process. A call
 * that waits only for other calls in the queue never fails.
 */
export const MAX_WAIT_MS = 120_000;
/**
 * After this many calls in a minute, trdr fetches the limit of the key, free of charge. It does not
 * assume the limit of a plan, because some contracts have a lower limit than any plan.
 */
const CALLS_BEFORE_ASKING = 9;
/**
 * Until the limit is known, calls wait in slices, because another process may fetch it meanwhile.
 */
const SLICE_MS = 200;
/**
 * After 15 slices (3 s), a call fetches the limit itself: the process that should may have ended.
 */
const SLICES = 15;
/** A call that fetches the limit waits only for a lane that a 429 has blocked. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;
/**
 * A 429 within the limit suggests that the plan has changed: the limit is fetched again, at most
 * once a minute.
 */
const RECHECK_MS = 60_000;
/**
 * A call that leaves this late counts as leaving in time; it is less than RATE_WINDOW_MS exceeds a
 * minute.
 */
const LATE_MS = 250;
/**
 * One absurd Retry-After, such as milliseconds instead of seconds, must not block a key or stop a
 * tail for hours.
 */
export const LONGEST_BLOCK_MS = 15 * 60_000;

/** What is known of the limit of a key. */
interface KeyLimit {
  /** Calls per minute; null if not known yet. */
  perMinute: number | null;
  /** Whether the limit could not be fetched. The lowest limit of all plans then applies. */
  isUnavailable: boolean;
  /** Whether the next call first fetches the limit again. */
  isDoubtful: boolean;
  /** When a 429 last made the limit doubtful, by the monotonic clock. */
  doubtedAt: number;
}

/** How a call may leave. */
export interface Leaving {
  /** The latest time of the monotonic clock. */
  readonly until?: number | undefined;
  readonly tellsLimit?: boolean | undefined;
  /** Whether the user knows already that the call waits. */
  readonly isReported?: boolean | undefined;
}

/** A call that waits in a lane. */
interface Waiting {
  readonly lane: LaneName;
  /** The place in the queue of all processes. */
  readonly ticket: number;
  readonly signal: AbortSignal | undefined;
  /** The latest time of the monotonic clock at which the call may start. */
  readonly until: number;
  /** Whether its answer states the limit of the key. */
  readonly tellsLimit: boolean;
  isReported: boolean;
  slices: number;
}

/**
 * Delays calls so that each lane stays within its rate limit. The calls of this process are served
 * in order; `windows` counts them together with those of other processes or machines. A ticket
 * keeps the place of a call there while it waits.
 */
export class Limiter {
  readonly #windows: RateWindows;
  readonly #clock: Clock;
  readonly #askRate: AskRate;
  readonly #notify: (notice: Notice) => void;
  readonly #queues = { key: createQueue(), resolve: createQueue() };
  readonly #key: KeyLimit = {
    perMinute: null,
    isUnavailable: false,
    isDoubtful: false,
    doubtedAt: Number.NEGATIVE_INFINITY,
  };
  /** Until when a 429 of this run blocks a lane, by the monotonic clock. */
  readonly #blockedTo = { key: Number.NEGATIVE_INFINITY, resolve: Number.NEGATIVE_INFINITY };
  #tickets = 0;

  constructor(
    windows: RateWindows,
    clock: Clock,
    askRate: AskRate,
    notify: (notice: Notice) => void,
  ) {
    this.#windows = windows;
    this.#clock = clock;
    this.#askRate = askRate;
    this.#notify = notify;
  }

  /** The limit of the key; null if not known yet. */
  get rate(): number | null {
    return this.#key.perMinute;
  }

  /**
   * Resolves when a call may be sent. Rejects if a 429 blocks the lane beyond MAX_WAIT_MS, or if
   * `until` (of `clock.mono`) would pass. While the limit is not known, a call that tells it
   * (`tellsLimit`) does not wait for it.
   */
  async acquire(
    lane: LaneName,
    signal?: AbortSignal,
    { until = Number.POSITIVE_INFINITY, tellsLimit = false, isReported = false }: Leaving = {},
  ): Promise<void> {
    const slots = new Map<LaneName, { readonly ticket: number; readonly at: number }>();
    const lanes: readonly LaneName[] = lane === 'resolve' ? ['resolve', 'key'] : ['key'];
    while (slots.size < lanes.length) {
      for (const name of lanes) {
        if (slots.has(name)) continue;
        const ticket = await this.#queues[name](
          () => this.#take({ lane: name, signal, until, tellsLimit, isReported }),
          signal,
        );
        slots.set(name, { ticket, at: this.#clock.mono() });
      }
      // The call leaves now, perhaps long after it got its slot in the first lane.
      for (const [name, { ticket, at }] of slots) {
        const lateMs = this.#clock.mono() - at;
        if (lateMs <= LATE_MS) continue;
        const isCounted = await this.#windows.depart(name, ticket, lateMs);
        if (!isCounted) slots.delete(name);
      }
    }
  }

  /** Blocks a lane after a 429. */
  async refused(lane: LaneName, ms: number): Promise<void> {
    const blockMs = Math.min(ms, LONGEST_BLOCK_MS);
    this.#blockedTo[lane] = Math.max(this.#blockedTo[lane], this.#clock.mono() + blockMs);
    await this.#windows.block(lane, blockMs);
    const { perMinute, doubtedAt } = this.#key;
    if (lane !== 'key' || perMinute === null) return;
    if (this.#clock.mono() - doubtedAt < RECHECK_MS) return;
    this.#key.doubtedAt = this.#clock.mono();
    this.#key.isDoubtful = true;
  }

  /** Takes the limit of the key that an answer has stated. */
  async learn(limit: number): Promise<void> {
    if (limit === this.#key.perMinute || !(limit >= 1)) return;
    this.#key.perMinute = limit;
    await this.#windows.learn('key', limit);
  }

  /** Takes a slot of a lane. A call that fails leaves the queue of all machines. */
  async #take(call: Omit<Waiting, 'ticket' | 'slices'>): Promise<number> {
    const { lane, signal } = call;
    const ticket = ++this.#tickets;
    try {
      await this.#wait({ ...call, ticket, slices: 0 });
    } catch (error) {
      await this.#windows.drop(lane, ticket);
      throw error;
    }
    if (lane !== 'key' || !this.#key.isDoubtful) return ticket;
    // Use this slot to request the limit, which may have changed; the call itself uses the next
    // slot.
    this.#key.isDoubtful = false;
    await this.#request(signal);
    return await this.#take(call);
  }

  /** Waits until the call may leave. It keeps its ticket, and thus its place in the queue. */
  async #wait(call: Waiting): Promise<void> {
    const { lane, ticket, signal, until, tellsLimit } = call;
    for (;;) {
      const assumed = tellsLimit && !this.#hasLimit ? NO_LIMIT : this.#assumed;
      const limit = lane === 'resolve' ? RESOLVES_PER_MINUTE : assumed;
      // Without a limit, a call does not enter the queue: its wait would be computed from
      // CALLS_BEFORE_ASKING.
      const hasLimit = lane === 'resolve' || this.#hasLimit;
      const blockedMs = this.#blockedTo[lane] - this.#clock.mono();
      const slot =
        blockedMs > 0
          ? { waitMs: blockedMs, statedLimit: null, queued: false }
          : await this.#windows.take(lane, limit, hasLimit ? ticket : undefined);
      const { waitMs, queued } = slot;
      const hasGrown = lane === 'key' && this.#adopt(slot.statedLimit);
      // The assumed limit was reached, but a higher limit is known by now: try again.
      if (waitMs > 0 && hasGrown) continue;
      if (waitMs <= 0) return;
      if (!queued && waitMs > MAX_WAIT_MS) throw waitTooLong(lane, waitMs);
      if (!hasLimit && blockedMs <= 0) {
        await this.#findLimit(call);
        continue;
      }
      if (this.#clock.mono() + waitMs > until) throw waitTooLong(lane, waitMs, false);
      this.#report(call, waitMs, limit);
      await this.#clock.sleep(waitMs, signal);
    }
  }

  #report(call: Waiting, ms: number, limit: number): void {
    if (!call.isReported && ms > SILENT_WAIT_MS)
      this.#notify({ kind: 'wait', ms, reason: reasonOf(call.lane, limit) });
    call.isReported = true;
  }

  get #assumed(): number {
    const { perMinute, isUnavailable } = this.#key;
    return perMinute ?? (isUnavailable ? LEAST_RATE_PER_MINUTE : CALLS_BEFORE_ASKING);
  }

  get #hasLimit(): boolean {
    return this.#key.perMinute !== null || this.#key.isUnavailable;
  }

  /**
   * Takes a limit that another process has learned; returns whether it is higher than the assumed
   * one.
   */
  #adopt(limit: number | null): boolean {
    if (limit === null) return false;
    const isHigher = limit > this.#assumed;
    this.#key.perMinute = limit;
    return isHigher;
  }

  /** Fetches the limit, or waits a moment for the process that is fetching it. */
  async #findLimit(call: Waiting): Promise<void> {
    const isPatient = ++call.slices <= SLICES;
    await this.#ask(isPatient ? CALLS_BEFORE_ASKING + 1 : NO_LIMIT, call.signal);
    if (this.#hasLimit) return;
    // The lane is blocked.
    if (!isPatient) this.#key.isUnavailable = true;
    else await this.#clock.sleep(SLICE_MS, call.signal);
  }

  /**
   * Fetches the limit unless another process is fetching it: only the process that gets the first
   * slot after CALLS_BEFORE_ASKING sends the request. A limit that stays unknown is not an error.
   */
  async #ask(slots: number, signal: AbortSignal | undefined): Promise<void> {
    const { waitMs, statedLimit } = await this.#windows.take('key', slots);
    if (statedLimit !== null) this.#key.perMinute = statedLimit;
    else if (waitMs <= 0) {
      await this.#request(signal);
      this.#key.isUnavailable = this.#key.perMinute === null;
    }
  }

  async #request(signal: AbortSignal | undefined): Promise<void> {
    const stated = await this.#askRate(signal).catch(() => null);
    signal?.throwIfAborted();
    if (stated !== null) await this.learn(stated);
  }
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
