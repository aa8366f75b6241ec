import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { Client, KeyMeters, Notice } from '../../contract/ports/client.ts';
import { untilRenewal } from '../account.ts';
import { lookAgain } from '../ask-account.ts';
import { SILENT_WAIT_MS } from '../spend/rate-limiter.ts';
import { revealsReached } from '../spend/spend.ts';
import { isRejected } from './request-batch.ts';

/** Each request of the usage counts against the rate limit. */
const LOOK_MS = 5_000;
/** An outage that a batch was lost in may last for some seconds more. */
const UNMOVED_TIMEOUT_MS = 30_000;
/** How long `me` is not asked after it gave no answer, because each attempt delays the run. */
const UNANSWERED_MS = 60_000;

/** The number of handles that a run can pay for at the maximum cost, and the failure if it is 0. */
interface Room {
  readonly handles: number;
  readonly failure: Failure;
}

/** How much a run may still spend, by the key and by its spending limit. */
export class Allowance {
  readonly #client: Pick<Client, 'call' | 'spent' | 'left'>;
  readonly #clock: Pick<Clock, 'mono' | 'sleep'>;
  readonly #limits: RunLimits;
  readonly #notify: ((notice: Notice) => void) | undefined;
  /** Whether nothing was requested since the last answer of `me`. */
  #isFresh = false;
  #nextLook = Number.NEGATIVE_INFINITY;
  /** Each wallet in a batch counts as one reveal, as a rejection has shown. */
  #walletsCount = false;

  constructor(
    client: Pick<Client, 'call' | 'spent' | 'left'>,
    clock: Pick<Clock, 'mono' | 'sleep'>,
    limits: RunLimits,
    notify?: (notice: Notice) => void,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#limits = limits;
    this.#notify = notify;
  }

  /**
   * Requests `me`, which is free. Without an answer, what is left is not known: the limits of the
   * run, and the service, which refuses a batch that it does not cover, then hold the money.
   */
  async refresh(signal?: AbortSignal): Promise<KeyMeters | undefined> {
    this.#isFresh = true;
    if (this.#clock.mono() < this.#nextLook) return this.#client.left.key;
    const { me, left } = await lookAgain(this.#client, signal);
    if (!me) this.#nextLook = this.#clock.mono() + UNANSWERED_MS;
    return left;
  }

  /**
   * How many of the wanted handles the next batch may have. Other processes may have spent with the
   * same key, so it asks before each batch.
   */
  async affordable(wanted: number, signal: AbortSignal | undefined): Promise<number> {
    if (!this.#isFresh) await this.refresh(signal);
    this.#isFresh = false;
    const room = this.#room();
    if (room && room.handles < 1) throw room.failure;
    return Math.min(wanted, room?.handles ?? wanted);
  }

  /**
   * The size of the next batch after an error that a smaller one may avoid. Throws all other
   * errors.
   */
  async smallerBatch(
    error: unknown,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    if (isRejected(error)) return Math.ceil(size / 2);
    const budgeted = withinBudget(error, size);
    if (budgeted > 0) return budgeted;
    if (!(error instanceof Failure) || error.kind !== 'quota') throw error;
    await this.refresh(signal);
    if (error.code === 'REVEAL_LIMIT_REACHED') this.#walletsCount = true;
    const room = this.#room();
    if (size === 1) throw room && room.handles < 1 ? room.failure : error;
    if (room && room.handles < size) return BATCH_MAX;
    // The allowance covers the rejected batch, so the service counts reveals differently: try half.
    return Math.floor(size / 2);
  }

  /**
   * Whether a call whose answer was lost was probably not charged: the units used stay at `before`,
   * their number before the call, for `waitMs`. This is not certain, because the service may count
   * the call later.
   */
  async unmoved(before: number | null, waitMs: number, signal?: AbortSignal): Promise<boolean> {
    // At zero, a new month may have just started, and the counter shows nothing about the call.
    if (before === null || before === 0) return false;
    try {
      if (!(await this.#standsAt(before, signal))) return false;
      const reason = 'checking whether the call without an answer was charged';
      if (waitMs > SILENT_WAIT_MS) this.#notify?.({ kind: 'wait', ms: waitMs, reason });
      for (let left = waitMs; left > 0; left -= LOOK_MS) {
        await this.#clock.sleep(Math.min(LOOK_MS, left), signal);
        if (!(await this.#standsAt(before, signal))) return false;
      }
      return true;
    } catch {
      // The usage is not known, so the call counts as charged.
      return false;
    }
  }

  async #standsAt(unitsUsed: number, signal?: AbortSignal): Promise<boolean> {
    const { me } = await lookAgain(this.#client, signal, { timeoutMs: UNMOVED_TIMEOUT_MS });
    return me?.usage?.unitsUsed === unitsUsed;
  }

  /** What allows the fewest handles; undefined if nothing limits them. */
  #room(): Room | undefined {
    const rooms = [
      this.#roomOfLimit(),
      this.#roomOfUnits(),
      this.#roomOfReveals(),
      this.#roomOfRevealLimit(),
    ];
    const [least] = rooms
      .filter((room) => room !== undefined)
      .sort((one, other) => one.handles - other.handles);
    return least;
  }

  #roomOfLimit(): Room | undefined {
    const { maxCu } = this.#limits;
    if (maxCu === undefined) return undefined;
    const left = Math.max(0, maxCu - this.#client.spent.atMost);
    const text = `${nextHandle} ${unitsText(left)} of the spending limit (${unitsText(maxCu)}) remain`;
    const failure = new Failure('limit', text, {
      code: 'CEILING',
      hint: 'raise --max-cu',
    });
    return { handles: handlesFor(left), failure };
  }

  #roomOfUnits(): Room | undefined {
    const { units = null, isGrantedOnce = false } = this.#client.left.key ?? {};
    if (units === null) return undefined;
    const failure = new Failure('quota', `${nextHandle} ${unitsText(units)} are left`, {
      code: 'QUOTA_EXCEEDED',
      hint: `top up, ${untilRenewal({ isGrantedOnce })}; "trdr me" shows what is left`,
    });
    return { handles: handlesFor(units), failure };
  }

  /**
   * The service does not document whether a batch counts as one reveal. Until a call is rejected,
   * it is assumed to.
   */
  #roomOfReveals(): Room | undefined {
    const { reveals = null } = this.#client.left.key ?? {};
    if (reveals === null || (!this.#walletsCount && reveals >= 1)) return undefined;
    const failure = new Failure('quota', 'no wallet reveals are left this month', {
      code: 'REVEAL_LIMIT_REACHED',
      hint: 'a top-up does not add reveals: upgrade the plan, or wait for the next UTC month; "trdr me" shows what is left',
    });
    return { handles: Math.max(0, reveals), failure };
  }

  /** A batch counts as one reveal. */
  #roomOfRevealLimit(): Room | undefined {
    const { maxReveals } = this.#limits;
    if (maxReveals === undefined || this.#client.spent.revealsAtMost < maxReveals) return undefined;
    return { handles: 0, failure: revealsReached(maxReveals) };
  }
}

/** What a run may spend by its own flags. */
interface RunLimits {
  readonly maxCu?: number | undefined;
  readonly maxReveals?: number | undefined;
}

const nextHandle = `the next handle may cost ${unitsText(cu.reveal)} but only`;

const handlesFor = (units: number): number => Math.max(0, Math.floor(units / cu.reveal));

/**
 * The size of a smaller batch that the budget covers, which refused one of `size`; 0 if there is
 * none.
 */
function withinBudget(error: unknown, size: number): number {
  if (!(error instanceof Failure) || error.left === undefined) return 0;
  return Math.min(size - 1, Math.floor(error.left / cu.reveal));
}
