import { type Backoff, createBackoff } from '../../base/clock.ts';
import { Failure, withLoss } from '../../base/failure.ts';
import { type Charge, revealsOfCall } from '../../contract/endpoint.ts';
import { RETRIES } from '../../contract/limits.ts';
import type { Notice } from '../../contract/ports/client.ts';
import type { Ledger, Slot } from '../../contract/ports/ledger.ts';
import type { RateWindows } from '../../contract/ports/rate-windows.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import {
  type LaneName,
  type Leaving,
  type Limiter,
  MAX_WAIT_MS,
  SILENT_WAIT_MS,
} from '../spend/rate-limiter.ts';
import type { Spend, SpendLimit } from '../spend/spend.ts';
import type { Channel, ChannelOptions, Message, SendState } from './channel.ts';
import { isForeign, stepAfter } from './resend-rule.ts';

export interface ClientOptions extends ChannelOptions {
  readonly random: () => number;
  readonly notify: (notice: Notice) => void;
  readonly windows: RateWindows;
  readonly limit: SpendLimit;
  readonly ledger: Ledger;
  /** How often a call is repeated. Repetitions after a 429 do not count. */
  readonly retries?: number | undefined;
  /** The timeout of all calls; by default, that of their endpoint. */
  readonly timeoutMs?: number | undefined;
  /**
   * Called when a call begins, with its name in the ledger; what it returns, when the call ends.
   */
  readonly onWait?: ((endpoint: string) => () => void) | undefined;
}

/** A call of any source, ready to be sent. */
export interface PlannedSend<T> extends Message {
  /** The name of the call in the ledger. */
  readonly endpoint: string;
  /** True if the same call was sent before and its answer was lost. */
  readonly repeat?: boolean | undefined;
  readonly lane: LaneName;
  readonly leaving?: Leaving | undefined;
  /** Whether a 429 delays neither this call nor others. */
  readonly optional?: boolean | undefined;
  readonly read: (answer: HttpAnswer) => Read<T>;
}

/** A decoded response. `charge` is undefined if the cost of the call cannot be read from it. */
export type Read<T> = (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure; readonly value?: T }
) & { readonly charge: Charge | undefined; readonly requestId: string | undefined };

export type Outcome<T> = { readonly ok: true; readonly value: T } | Failed<T>;

interface Failed<T = unknown> {
  readonly ok: false;
  readonly failure: Failure;
  /**
   * Whether it was certainly not charged: it was never sent, or its response is documented as free.
   */
  readonly free: boolean;
  /** The response; absent if none arrived. */
  readonly value?: T | undefined;
}

/** The answers of a call that were lost, and what they may have cost. */
interface Losses {
  answers: number;
  cuAtMost: number;
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 20_000;
/** The wait after a 429 that does not state one. */
const UNSTATED_WAIT_MS = 5_000;
/** If the service rounds a wait down to 0 s, trdr must not retry in a tight loop. */
const LEAST_WAIT_MS = 1_000;
/** Short waits that are not reported one by one are reported when their sum exceeds this. */
const BEARABLE_MS = 10_000;

/** Sends calls within the rate limit, the spending limit and the budgets. */
export class Sender {
  /** The failure of the last attempt; undefined after an answer. */
  trouble: Failure | undefined;
  /** Whether the service itself has answered; until then, the address may be wrong. */
  #hasAnswered = false;
  readonly #options: ClientOptions;
  readonly #channel: Channel;
  readonly #limiter: Limiter;
  readonly #spend: Spend;

  constructor(options: ClientOptions, channel: Channel, limiter: Limiter, spend: Spend) {
    this.#options = options;
    this.#channel = channel;
    this.#limiter = limiter;
    this.#spend = spend;
  }

  /**
   * Sends a call, and again while its failure may pass. An answer may have been lost after it was
   * charged: whether the call is then sent again, `stepAfter` decides.
   */
  async run<T>(plan: PlannedSend<T>, signal: AbortSignal | undefined): Promise<Outcome<T>> {
    const { endpoint, repeat = false } = plan;
    const { notify, onWait } = this.#options;
    const endWait = onWait?.(endpoint);
    const losses: Losses = { answers: 0, cuAtMost: 0 };
    const waits = new Waits(this.#options);
    try {
      let outcome = await this.#attempt(plan, repeat, losses, signal);
      this.trouble = outcome.ok ? undefined : outcome.failure;
      while (!outcome.ok && this.#maySendAgain(plan, outcome, losses)) {
        const ms = waits.after(outcome.failure);
        if (ms === undefined) break;
        const isLimited = outcome.failure.kind === 'rate';
        const leaving = { ...plan.leaving, isReported: isLimited };
        const isRepeat = repeat || !outcome.free;
        // The 429 has blocked the lane, where the call waits.
        const wait = isLimited ? 0 : ms;
        const next = await this.#again({ ...plan, leaving }, wait, isRepeat, losses, signal);
        if (next === undefined) break;
        outcome = next;
        this.trouble = outcome.ok ? undefined : outcome.failure;
      }
      return outcome.ok
        ? outcome
        : { ...outcome, failure: withLoss(outcome.failure, losses.cuAtMost) };
    } finally {
      endWait?.();
      if (losses.cuAtMost > 0) notify({ kind: 'lost', endpoint, ...losses });
    }
  }

  #maySendAgain<T>(
    { rule, bounds, optional }: PlannedSend<T>,
    { failure, free: isFree }: Failed,
    { answers: lost }: Losses,
  ): boolean {
    if (optional && failure.kind === 'rate') return false;
    if (!this.#hasAnswered && isForeign(failure)) return false;
    // With a spending limit, the reservation decides; without one, the confirmed cost.
    const hasLimit = this.#options.limit.limit !== undefined;
    const isCovered = hasLimit || this.#spend.affords(bounds?.most ?? 0);
    return stepAfter({ failure, isFree, rule, lost, isCovered }) === 'send';
  }

  /**
   * Undefined if other calls have meanwhile used the amount that the repetition needs, or if the
   * run ends after a loss: what was lost may still be charged.
   */
  async #again<T>(
    plan: PlannedSend<T>,
    wait: number,
    repeat: boolean,
    losses: Losses,
    signal: AbortSignal | undefined,
  ): Promise<Outcome<T> | undefined> {
    try {
      if (wait > 0) await this.#options.clock.sleep(wait, signal);
      return await this.#attempt(plan, repeat, losses, signal);
    } catch (error) {
      if (signal?.aborted && losses.cuAtMost > 0) return undefined;
      if (!(error instanceof Failure)) throw error;
      if (repeat && error.code === 'NOT_AGREED') return undefined;
      throw withLoss(error, losses.cuAtMost);
    }
  }

  /** Sends a call once, after its maximum cost was reserved. */
  async #attempt<T>(
    plan: PlannedSend<T>,
    repeat: boolean,
    losses: Losses,
    signal: AbortSignal | undefined,
  ): Promise<Outcome<T>> {
    let slot: Slot;
    try {
      slot =
        plan.bounds?.most === 0
          ? await this.#enter(plan, signal)
          : await this.#spend.reserve(plan, signal, { repeat });
    } catch (error) {
      if (!(error instanceof Failure) || error.kind === 'limit') throw error;
      return { ok: false, failure: error, free: true };
    }
    const state: SendState = { isSent: false };
    let answer: HttpAnswer;
    try {
      answer = await this.#channel.transmit(plan, signal, state);
    } catch (error) {
      const failure = error instanceof Failure ? error : undefined;
      // A caller that gave up before the request was written has certainly paid nothing.
      const isGivenUp = !state.isSent && error === signal?.reason;
      const isPossible =
        failure?.code !== 'UNREACHABLE' &&
        !isGivenUp &&
        (state.isSent || failure?.kind === 'network');
      if (isPossible) lose(plan, slot, losses, failure?.status ?? null);
      else slot.release();
      if (!failure) throw error;
      return { ok: false, failure, free: !isPossible };
    }
    return await this.#account(plan, answer, slot, losses);
  }

  /** A free call only waits for the rate limit. */
  async #enter(
    { lane, leaving }: PlannedSend<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<Slot> {
    signal?.throwIfAborted();
    await this.#limiter.acquire(lane, signal, leaving);
    signal?.throwIfAborted();
    return freeSlot;
  }

  /** Reads an answer, and settles what the call cost. */
  async #account<T>(
    plan: PlannedSend<T>,
    answer: HttpAnswer,
    slot: Slot,
    losses: Losses,
  ): Promise<Outcome<T>> {
    const { status } = answer;
    const read = plan.read(answer);
    const { charge, requestId } = read;
    const free = charge?.cu === 0 && !charge.uncertain;
    if (free) slot.release();
    else if (!charge) lose(plan, slot, losses, status, requestId);
    else {
      const { cu, uncertain: cuAtMost, uncertainReveals = 0 } = charge;
      const reveals = revealsOfCall(charge.reveals);
      const revealsAtMost = revealsOfCall(charge.reveals + uncertainReveals) - reveals;
      slot.settle({
        status,
        cu,
        cuAtMost,
        reveals,
        ...(revealsAtMost && { revealsAtMost }),
        requestId,
      });
      const request = requestId === undefined ? '' : `, request ${requestId}`;
      this.#channel.trace(`= ${cu} CU${request}`);
    }
    this.#hasAnswered ||= read.ok || !read.failure.retryable;
    if (read.ok) return { ok: true, value: read.value };
    const { failure, value } = read;
    if (failure.kind === 'rate' && !plan.optional)
      await this.#limiter.refused(plan.lane, waitOf(failure));
    return { ok: false, failure, free, value };
  }
}

/** The place of a free call, which counts nowhere. */
const freeSlot: Slot = { settle: () => {}, lose: () => {}, release: () => {} };

/**
 * The call may have been charged: its maximum cost counts as spent, in the run and in the ledger.
 */
function lose(
  { bounds }: Message,
  slot: Slot,
  losses: Losses,
  status: number | null,
  requestId?: string,
): void {
  slot.lose({ status, requestId });
  losses.answers++;
  losses.cuAtMost += bounds?.most ?? 0;
}

/**
 * The waits between the attempts of a call: after 429s until they exceed MAX_WAIT_MS together, and
 * after other failures `retries` times.
 */
class Waits {
  readonly #retries: number;
  readonly #notify: (notice: Notice) => void;
  readonly #backoff: Backoff;
  #failed = 0;
  /** The sum of the waits after 429s. */
  #waited = 0;
  /** The sum of the waits that were not reported. */
  #silent = 0;
  #bearable = BEARABLE_MS;

  constructor({ retries = RETRIES, random, notify }: ClientOptions) {
    this.#retries = retries;
    this.#notify = notify;
    this.#backoff = createBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, random);
  }

  /** The wait after a failure; undefined if the call is not sent again. */
  after(failure: Failure): number | undefined {
    return failure.kind === 'rate' ? this.#afterLimit(failure) : this.#afterFailure(failure);
  }

  #afterLimit(failure: Failure): number | undefined {
    const ms = waitOf(failure);
    this.#waited += ms;
    if (this.#waited > MAX_WAIT_MS) return undefined;
    this.#report({ kind: 'wait', ms, reason: reasonOf(failure) });
    return ms;
  }

  #afterFailure(failure: Failure): number | undefined {
    const ms = Math.max(Math.round(this.#backoff.next()), (failure.retryAfter ?? 0) * 1000);
    this.#failed++;
    if (this.#failed > this.#retries || ms > MAX_WAIT_MS) return undefined;
    const of = this.#retries;
    this.#report({ kind: 'retry', attempt: this.#failed, of, ms, reason: reasonOf(failure) });
    return ms;
  }

  /** Consecutive short waits add up, and are reported at growing intervals. */
  #report(notice: Notice & { readonly ms: number }): void {
    this.#silent += notice.ms;
    if (notice.ms <= SILENT_WAIT_MS && this.#silent <= this.#bearable) return;
    this.#bearable = 4 * this.#silent;
    this.#notify(notice);
  }
}

const reasonOf = ({ code, status }: Failure): string =>
  status === undefined ? code : `${code} (${status})`;

/** The wait that a 429 asks for. */
const waitOf = ({ retryAfter }: Failure): number =>
  retryAfter === undefined
    ? UNSTATED_WAIT_MS
    : Math.max(LEAST_WAIT_MS, Math.ceil(retryAfter * 1000));
