import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';
import type { Charge } from '../../contract/endpoint.ts';
import { cu } from '../../contract/endpoints.ts';
import type { Client, Notice } from '../../contract/ports.ts';
import { type Left, leftOf } from '../account.ts';
import { SILENT_WAIT_MS } from '../client/limiter.ts';

/** What stands in the way of asking for more. */
type Shortage = 'QUOTA_EXCEEDED' | 'REVEAL_LIMIT_REACHED' | 'CEILING';

/** How many handles can be paid for whatever their answers cost, and what bounds them. */
export interface Room {
  readonly handles: number;
  readonly by: Shortage;
}

export interface AllowanceOptions {
  readonly client: Pick<Client, 'call' | 'spent'>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** The user's own ceiling for the run. */
  readonly maxCu?: number | undefined;
  readonly notify?: ((notice: Notice) => void) | undefined;
}

/** What is left to pay with: the service's two meters and the run's own ceiling. */
export interface Allowance {
  /** Asks the free `me`. */
  refresh(signal?: AbortSignal): Promise<Left>;
  /** Asks it where what is known may be out of date. */
  ready(signal?: AbortSignal): Promise<void>;
  room(): Room;
  /** What the meter stands at, as far as is known. */
  readonly unitsUsed: number | null;
  /** True where nothing was paid since `me` was asked. */
  readonly fresh: boolean;
  paid(charge: Charge): void;
  /** An unknown amount was charged. */
  lost(): void;
  /** A refusal taught that each wallet of a batch counts as a reveal, and not the batch as one. */
  countWallets(): void;
  /**
   * Whether the meter has not moved since a call was sent, for as long as the service may still be processing it. That
   * is a reason to believe that the call was not charged, and no proof: the meter may lag. False if interrupted.
   */
  unmoved(since: number | null, waitMs: number, signal?: AbortSignal): Promise<boolean>;
  /** The failure if nothing can be paid. */
  shortage(): Failure;
}

/** As long as its own arithmetic proves right, the meter is read only after so many batches. */
const LONGEST_TRUST = 16;

/** How often a meter that may still move is looked at: each time is a request of the key's rate. */
const LOOK_MS = 5_000;

export function createAllowance({ client, clock, maxCu, notify }: AllowanceOptions): Allowance {
  let left: Left = { units: null, reveals: null };
  let used: number | null = null;
  let since = 0;
  let trust = 0;
  let walletsCount = false;

  async function refresh(signal?: AbortSignal): Promise<Left> {
    const { known } = await client.call('me', {}, { signal });
    const now = known.usage?.unitsUsed ?? null;
    // Other processes spend from the same key, so the estimate cannot be trusted.
    if (since > 0) trust = now === used ? Math.min(LONGEST_TRUST, Math.max(1, trust * 2)) : 0;
    used = now;
    left = leftOf(known);
    since = 0;
    return left;
  }

  function room(): Room {
    const afforded = (units: number) => Math.max(0, Math.floor(units / cu.reveal));
    const bounds: Room[] = [];
    if (left.units !== null) bounds.push({ handles: afforded(left.units), by: 'QUOTA_EXCEEDED' });
    // Whether a batch counts as one reveal is not stated: until a refusal says otherwise, it may.
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
      if (used === null || since > trust) await refresh(signal);
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
      trust = 0;
    },
    countWallets() {
      walletsCount = true;
    },
    async unmoved(before, waitMs, signal) {
      // At zero, the month may have turned: the meter then reads the same whatever was charged.
      if (before === null || before === 0) return false;
      const standsStill = async () => (await client.call('me', {})).known.usage?.unitsUsed === before;
      try {
        if (!(await standsStill())) return false;
        if (waitMs <= 0) return true;
        if (waitMs > SILENT_WAIT_MS) {
          notify?.({ kind: 'wait', ms: waitMs, reason: 'checking whether the lost answer was charged' });
        }
        for (let left = waitMs; left > 0; left -= LOOK_MS) {
          await clock.sleep(Math.min(LOOK_MS, left), signal);
          if (!(await standsStill())) return false;
        }
        return true;
      } catch {
        // Without the meter, assume that it was charged.
        return false;
      }
    },
    shortage() {
      const { by } = room();
      if (by === 'CEILING') {
        const rest = Math.max(0, (maxCu ?? 0) - client.spent.atMost);
        return new Failure(
          'limit',
          `the next handle can cost ${unitsText(cu.reveal)}, and ${group(rest)} of the ${group(maxCu ?? 0)} allowed are left`,
          {
            code: by,
            hint: 'allow more with --max-cu',
          },
        );
      }
      const months = 'or wait for the UTC month to turn; trdr me shows the meters';
      return by === 'QUOTA_EXCEEDED'
        ? new Failure(
            'quota',
            `a handle can cost ${unitsText(cu.reveal)}, and ${group(left.units ?? 0)} are left`,
            {
              code: by,
              hint: `top up, ${months}`,
            },
          )
        : new Failure('quota', 'no wallet reveals are left', {
            code: by,
            hint: `top-ups don't lift it: take a larger plan, ${months}`,
          });
    },
  };
}
