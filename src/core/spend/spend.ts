import { EventEmitter, once } from 'node:events';
import { Failure } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import { BUDGET } from '../../contract/budget.ts';
import { type PriceBounds, revealsOfCall } from '../../contract/endpoint.ts';
import type { Client, Remainder } from '../../contract/ports/client.ts';
import type { Ledger, PaidCall, Slot } from '../../contract/ports/ledger.ts';
import { createQueue } from './queue.ts';
import type { LaneName, Leaving, Limiter } from './rate-limiter.ts';
import { RunCost, RunRemainder } from './run-cost.ts';

/**
 * The spending limit of a run. It is read again for every call, because the user can raise it
 * during the run.
 */
export interface SpendLimit {
  readonly limit?: number | undefined;
  /** How many wallets the run may reveal. */
  readonly reveals?: number | undefined;
  /**
   * The cost that the user confirmed. Calls whose answers were lost are repeated only within this
   * cost.
   */
  readonly agreed?: number | undefined;
  /** How to raise the limit. */
  readonly hint?: string | undefined;
  /** Asks the user to raise the limit by at least `most` CU; false if the user declines. */
  raise?(most: number): Promise<boolean>;
  /** The failure of a call that the limit cannot cover; undefined for the usual one. */
  stopped?(): Failure | undefined;
}

/** A call, or a minute of the WebSocket, that is about to be paid for. */
interface Purchase {
  readonly endpoint: string;
  /** Undefined if the price is not known. */
  readonly bounds: PriceBounds | undefined;
  /** The rate limit that the call waits for; undefined for a minute of the WebSocket. */
  readonly lane?: LaneName | undefined;
  /** How the rate limit may let the call start. */
  readonly leaving?: Leaving | undefined;
}

/** A purchase whose maximum cost is counted. */
interface Reservation {
  readonly most: number;
  readonly reveals: number;
  /** A minute of the WebSocket costs its maximum, and does not end soon. */
  readonly isMinute: boolean;
  isOpen: boolean;
}

/**
 * The one way to pay: through the spending limit of the run, the rate limit, and the ledger with
 * its budgets.
 *
 * A call is first counted with its maximum cost, and waits if the limit covers it only should calls
 * in flight cost less than their maximum. Right before it is sent it is recorded, where a budget of
 * several runs can refuse it.
 */
export class Spend {
  readonly left: Remainder;
  readonly #allowed: SpendLimit;
  readonly #limiter: Pick<Limiter, 'acquire'>;
  readonly #ledger: Ledger | undefined;
  readonly #cost: RunCost;
  // Calls are admitted in order, so that the result does not depend on which answer arrives first.
  readonly #limited = createQueue();
  readonly #budgeted = createQueue();
  /** Emits `end` when a call has ended, and again when its end is in the ledger. */
  readonly #endings = new EventEmitter().setMaxListeners(0);
  readonly #writes = new Set<Promise<void>>();
  /** The calls in flight that are in the ledger, where they may cost less than recorded. */
  #recorded = 0;
  /** How many ends of calls are in the ledger. */
  #ended = 0;
  /** False once the user has declined to raise the limit: it is never asked again. */
  #mayRaise = true;

  constructor(
    allowed: SpendLimit,
    limiter: Pick<Limiter, 'acquire'>,
    ledger: Ledger | undefined,
    cost = new RunCost(),
    left: Remainder = new RunRemainder(cost),
  ) {
    this.#allowed = allowed;
    this.#limiter = limiter;
    this.#ledger = ledger;
    this.#cost = cost;
    this.left = left;
  }

  get spent(): Client['spent'] {
    return this.#cost.spent;
  }

  /** Whether the confirmed cost and the spending limit cover another `most` CU. */
  affords(most: number): boolean {
    return this.#cost.fits(most, Math.min(this.#limit, this.#agreed));
  }

  /**
   * Waits until a call may be sent, and counts it. A rejected call does not stay counted. With
   * `repeat`, the call repeats one whose answer was lost: both may have been charged, so the cost
   * that the user confirmed must cover both.
   */
  async reserve(
    { endpoint, bounds, lane, leaving }: Purchase,
    signal: AbortSignal | undefined,
    { repeat = false }: { readonly repeat?: boolean } = {},
  ): Promise<Slot> {
    const most = bounds?.most ?? 0;
    signal?.throwIfAborted();
    if (repeat && most > 0 && !this.#cost.fits(most, this.#agreed)) throw notAgreed(most);
    const isMinute = lane === undefined;
    const reveals = revealsOfCall(bounds?.reveals ?? 0);
    const held: Reservation = { most, reveals, isMinute, isOpen: true };
    if (most > 0) await this.#limited(() => this.#hold(held, signal), signal);
    try {
      if (lane !== undefined) await this.#limiter.acquire(lane, signal, leaving);
      signal?.throwIfAborted();
      const call = { endpoint, most: bounds?.most, reveals: bounds && reveals };
      const entry = await this.#budgeted(() => this.#record(call, isMinute, signal), signal);
      this.#cost.calls++;
      return this.#slotOf(held, entry);
    } catch (error) {
      this.#release(held);
      throw error;
    }
  }

  /** Resolves when the outcomes of all ended calls are in the ledger. */
  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }

  get #limit(): number {
    return this.#allowed.limit ?? Number.POSITIVE_INFINITY;
  }

  get #agreed(): number {
    return this.#allowed.agreed ?? Number.POSITIVE_INFINITY;
  }

  /** Counts the maximum cost of a call as soon as the limit covers it. */
  async #hold(
    { most, reveals, isMinute }: Reservation,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { reveals: revealed = Number.POSITIVE_INFINITY } = this.#allowed;
    for (;;) {
      const hasReveals = reveals === 0 || this.#cost.fitsReveals(reveals, revealed);
      if (hasReveals && this.#cost.fits(most, this.#limit)) break;
      // Calls in flight may cost less than was reserved; the open minutes of a WebSocket will not.
      if (this.#cost.reserved > 0) await this.#nextEnd(signal);
      else if (!hasReveals) throw revealsReached(revealed);
      else if (!this.#allowed.raise || !this.#mayRaise) throw this.#refusal(most);
      else {
        this.#mayRaise = false;
        this.#mayRaise = await this.#allowed.raise(most);
      }
    }
    if (isMinute) this.#cost.openMinutes += most;
    else this.#cost.reserved += most;
    this.#cost.reservedReveals += reveals;
  }

  #release({ most, reveals, isMinute }: Reservation): void {
    this.#cost.reservedReveals -= reveals;
    if (isMinute) this.#cost.openMinutes -= most;
    else this.#cost.reserved -= most;
    this.#endings.emit('end');
  }

  #refusal(most: number): Failure {
    const stopped = this.#allowed.stopped?.();
    if (stopped) return stopped;
    const { cu, lost, openMinutes } = this.#cost;
    const left = unitsText(Math.max(0, this.#limit - cu - lost - openMinutes));
    const rest = `only ${left} of the spending limit (${unitsText(this.#limit)}) remain`;
    const text = `the next call may cost ${unitsText(most)} but ${rest}`;
    return new Failure('limit', text, {
      code: 'CEILING',
      hint: this.#allowed.hint ?? 'raise --max-cu',
    });
  }

  /**
   * Records a call in the ledger. A budget that refuses it may still cover it once calls of this
   * run have ended for less than their maximum; calls of other runs are not waited for.
   */
  async #record(call: PaidCall, isMinute: boolean, signal: AbortSignal | undefined) {
    for (;;) {
      const before = this.#ended;
      try {
        const slot = await this.#ledger?.begin(call, signal);
        if (!isMinute) this.#recorded++;
        return slot;
      } catch (error) {
        const isShort =
          error instanceof Failure && error.code === BUDGET && call.most !== undefined;
        if (!isShort || (this.#recorded === 0 && this.#ended === before)) throw error;
      }
      // A call of this run may have ended while the ledger was asked.
      if (this.#ended === before) await this.#nextEnd(signal);
    }
  }

  async #nextEnd(signal: AbortSignal | undefined): Promise<void> {
    await once(this.#endings, 'end', signal && { signal }).catch(() => {});
    signal?.throwIfAborted();
  }

  #slotOf(held: Reservation, entry: Slot<Promise<void>> | undefined): Slot {
    return {
      settle: (cost) => {
        const count = () => {
          this.#cost.cu += cost.cu;
          this.#cost.lost += cost.cuAtMost ?? 0;
          this.#cost.reveals += cost.reveals ?? 0;
          this.#cost.lostReveals += cost.revealsAtMost ?? 0;
        };
        this.#end(held, count, () => entry?.settle(cost));
      },
      lose: (how = {}) => {
        const count = () => {
          this.#cost.lost += held.most;
          this.#cost.lostReveals += held.reveals;
          if (held.isMinute) this.#cost.lostMinutes += held.most;
        };
        this.#end(held, count, () => entry?.lose(how));
      },
      release: () => {
        const count = () => {
          this.#cost.calls--;
        };
        this.#end(held, count, () => entry?.release());
      },
    };
  }

  /** Ends a call once: its maximum cost no longer counts, but what `count` adds. */
  #end(held: Reservation, count: () => void, write: () => Promise<void> | undefined): void {
    if (!held.isOpen) return;
    held.isOpen = false;
    count();
    this.#release(held);
    // An answer is returned before its cost is written; `settled` waits for all writes.
    const written = (write() ?? Promise.resolve()).catch(() => {});
    this.#writes.add(written);
    void written.then(() => {
      this.#writes.delete(written);
      if (!held.isMinute) this.#recorded--;
      this.#ended++;
      this.#endings.emit('end');
    });
  }
}

export const revealsReached = (limit: number) =>
  new Failure(
    'limit',
    `the next call may reveal a wallet, but the limit of this run (${countText(limit, 'wallet reveal')}) is reached`,
    { code: 'CEILING', hint: 'raise --max-reveals' },
  );

const notAgreed = (most: number) =>
  new Failure(
    'limit',
    `the answer was lost, and requesting it again may cost another ${unitsText(most)}, beyond the confirmed cost`,
    { code: 'NOT_AGREED', hint: 'run the command again to repeat the request' },
  );
