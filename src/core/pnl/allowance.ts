import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import type { Charge } from '../../contract/endpoint.ts';
import type { Client, Notice } from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';
import { type Left, leftOf } from '../account.ts';
import { SILENT_WAIT_MS } from '../spend/lane.ts';

/** What prevents further requests. */
type Shortage = 'QUOTA_EXCEEDED' | 'REVEAL_LIMIT_REACHED' | 'CEILING';

/**
 * The number of handles that the run can pay for, even if every call costs its maximum, and what limits this
 * number.
 */
export interface Room {
  readonly handles: number;
  readonly by: Shortage;
}

export interface AllowanceOptions {
  readonly client: Pick<Client, 'call' | 'spent'>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** The spending limit of the run. */
  readonly maxCu?: number | undefined;
  readonly notify?: ((notice: Notice) => void) | undefined;
}

/** How much a run may still spend, by the allowances of the key and by the spending limit of the run. */
export interface Allowance {
  /** Requests `me`, which is free. */
  refresh(signal?: AbortSignal): Promise<Left>;
  /** Requests `me` if the last answer of `me` may be outdated. */
  ready(signal?: AbortSignal): Promise<void>;
  room(): Room;
  /** The units used this month, as reported by the last answer of `me`; null if not known. */
  readonly unitsUsed: number | null;
  /** Whether nothing was paid since the last answer of `me`. */
  readonly fresh: boolean;
  paid(charge: Charge): void;
  /** Callers report here that an unknown amount may have been charged. */
  lost(): void;
  /**
   * Callers report here that each wallet in a batch counts as one reveal, as the rejection of a call has
   * shown.
   */
  countWallets(): void;
  /**
   * Whether a call whose answer was lost was probably not charged: true if the units used stay at `before`,
   * their number before the call, for `waitMs` milliseconds. This is not certain, because the service may
   * count the call later. False if `before` is null or 0, or if the usage cannot be requested.
   */
  unmoved(before: number | null, waitMs: number, signal?: AbortSignal): Promise<boolean>;
  /** The failure to report when the run cannot pay for another handle. */
  shortage(): Failure;
}

/** The maximum of `unchecked`, which doubles each time the usage agrees with the run's own count. */
const MAX_UNCHECKED = 16;

/** How often to request the usage while waiting for a change. Each request counts against the rate limit. */
const LOOK_MS = 5_000;

export function createAllowance({ client, clock, maxCu, notify }: AllowanceOptions): Allowance {
  let left: Left = { units: null, reveals: null };
  let used: number | null = null;
  /** The number of batches that were paid since the last request of the usage. */
  let since = 0;
  /** The usage is requested again when `since` exceeds this number. */
  let unchecked = 0;
  let walletsCount = false;

  async function refresh(signal?: AbortSignal): Promise<Left> {
    const { known } = await client.call('me', {}, { signal });
    const now = known.usage?.unitsUsed ?? null;
    // A difference means that other processes spend with the same key, so request the usage more often.
    if (since > 0) unchecked = now === used ? Math.min(MAX_UNCHECKED, Math.max(1, unchecked * 2)) : 0;
    used = now;
    left = leftOf(known);
    since = 0;
    return left;
  }

  function room(): Room {
    const afforded = (units: number) => Math.max(0, Math.floor(units / cu.reveal));
    const bounds: Room[] = [];
    if (left.units !== null) bounds.push({ handles: afforded(left.units), by: 'QUOTA_EXCEEDED' });
    // The service does not document whether a batch counts as one reveal. Assume that it does until a call is
    // rejected.
    if (left.reveals !== null && (walletsCount || left.reveals < 1)) {
      bounds.push({ handles: Math.max(0, left.reveals), by: 'REVEAL_LIMIT_REACHED' });
    }
    const ceiling = maxCu === undefined ? Number.POSITIVE_INFINITY : afforded(maxCu - client.spent.atMost);
    return bounds.reduce((least, one) => (one.handles < least.handles ? one : least), {
      handles: ceiling,
      by: 'CEILING',
    });
  }

  return {
    refresh,
    async ready(signal) {
      if (used === null || since > unchecked) await refresh(signal);
    },
    room,
    get unitsUsed() {
      return used;
    },
    get fresh() {
      return since === 0;
    },
    paid(charge) {
      since++;
      if (used !== null) used += charge.cu;
      const units = left.units === null ? null : left.units - charge.cu;
      const reveals =
        left.reveals === null
          ? null
          : left.reveals - (walletsCount ? charge.reveals : Math.min(1, charge.reveals));
      left = { units, reveals };
    },
    lost() {
      used = null;
      unchecked = 0;
    },
    countWallets() {
      walletsCount = true;
    },
    async unmoved(before, waitMs, signal) {
      // If the counter is zero, a new month may have just started. The counter then does not show whether the
      // call was charged.
      if (before === null || before === 0) return false;
      const standsStill = async () => (await client.call('me', {})).known.usage?.unitsUsed === before;
      try {
        if (!(await standsStill())) return false;
        if (waitMs <= 0) return true;
        if (waitMs > SILENT_WAIT_MS) {
          notify?.({
            kind: 'wait',
            ms: waitMs,
            reason: 'checking whether the call without an answer was charged',
          });
        }
        for (let left = waitMs; left > 0; left -= LOOK_MS) {
          await clock.sleep(Math.min(LOOK_MS, left), signal);
          if (!(await standsStill())) return false;
        }
        return true;
      } catch {
        // The usage is not known, so assume that the call was charged.
        return false;
      }
    },
    shortage() {
      const { by } = room();
      if (by === 'CEILING') {
        const rest = Math.max(0, (maxCu ?? 0) - client.spent.atMost);
        return new Failure(
          'limit',
          `the next handle may cost ${unitsText(cu.reveal)} but only ${unitsText(rest)} of the spending limit (${unitsText(maxCu ?? 0)}) remain`,
          {
            code: by,
            hint: 'raise --max-cu',
          },
        );
      }
      const months = 'or wait for the next UTC month; "trdr me" shows what is left';
      return by === 'QUOTA_EXCEEDED'
        ? new Failure(
            'quota',
            `the next handle may cost ${unitsText(cu.reveal)} but only ${unitsText(left.units ?? 0)} are left`,
            {
              code: by,
              hint: `top up, ${months}`,
            },
          )
        : new Failure('quota', 'no wallet reveals are left this month', {
            code: by,
            hint: `a top-up does not add reveals: upgrade the plan, ${months}`,
          });
    },
  };
}
