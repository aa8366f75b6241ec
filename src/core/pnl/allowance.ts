import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import type { Client, KeyMeters, Notice } from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';
import { SILENT_WAIT_MS } from '../spend/rate-limiter.ts';

type Shortage = 'QUOTA_EXCEEDED' | 'REVEAL_LIMIT_REACHED' | 'CEILING';

/** The number of handles that the run can pay for at the maximum cost, and what limits it. */
interface Room {
  readonly handles: number;
  readonly by: Shortage;
}

/** How much a run may still spend, by the key and by its spending limit. */
export type Allowance = ReturnType<typeof createAllowance>;

/** `unchecked` doubles each time the usage agrees with the run's own count. */
const MAX_UNCHECKED = 16;

/** Each request of the usage counts against the rate limit. */
const LOOK_MS = 5_000;

export function createAllowance(
  client: Pick<Client, 'call' | 'spent' | 'left'>,
  clock: Pick<Clock, 'sleep'>,
  maxCu?: number,
  notify?: (notice: Notice) => void,
) {
  /** Whether the last answer of `me` shows what is left. */
  let isKnown = false;
  /** Batches that were paid since the last request of the usage. */
  let since = 0;
  /** The usage is requested again when `since` exceeds this number. */
  let unchecked = 0;
  let walletsCount = false;
  /** Since the last answer of `me`. */
  let revealed = 0;

  const unitsUsed = () => (isKnown ? client.left.unitsUsed : null);

  function left(): KeyMeters {
    const { units = null, reveals = null } = client.left.key ?? {};
    return { units, reveals: reveals === null ? null : reveals - revealed };
  }

  /** `me` is free. */
  async function refresh(signal?: AbortSignal): Promise<KeyMeters> {
    const used = unitsUsed();
    await client.call('me', {}, { signal });
    isKnown = true;
    // Otherwise, other processes spend with the same key.
    if (since > 0) unchecked = unitsUsed() === used ? Math.min(MAX_UNCHECKED, Math.max(1, unchecked * 2)) : 0;
    since = 0;
    revealed = 0;
    return left();
  }

  function room(): Room {
    const afforded = (units: number) => Math.max(0, Math.floor(units / cu.reveal));
    const bounds: Room[] = [];
    const { units, reveals } = left();
    if (units !== null) bounds.push({ handles: afforded(units), by: 'QUOTA_EXCEEDED' });
    // The service does not document whether a batch counts as one reveal. Assume so until a call is rejected.
    if (reveals !== null && (walletsCount || reveals < 1)) {
      bounds.push({ handles: Math.max(0, reveals), by: 'REVEAL_LIMIT_REACHED' });
    }
    const ceiling = maxCu === undefined ? Number.POSITIVE_INFINITY : afforded(maxCu - client.spent.atMost);
    return bounds.reduce((least, one) => (one.handles < least.handles ? one : least), {
      handles: ceiling,
      by: 'CEILING',
    });
  }

  return {
    refresh,
    /** Requests `me` if its last answer may be outdated. */
    async ready(signal?: AbortSignal): Promise<void> {
      if (unitsUsed() === null || since > unchecked) await refresh(signal);
    },
    room,
    /** By the last answer of `me`; null if not known. */
    get unitsUsed(): number | null {
      return unitsUsed();
    },
    /** Whether nothing was paid since the last answer of `me`. */
    get fresh(): boolean {
      return since === 0;
    },
    /** Called after each paid batch. */
    paid(wallets: number): void {
      since++;
      revealed += walletsCount ? wallets : Math.min(1, wallets);
    },
    /** Called when an unknown amount may have been charged. */
    lost(): void {
      isKnown = false;
      unchecked = 0;
    },
    /** Called when a rejection has shown that each wallet in a batch counts as one reveal. */
    countWallets(): void {
      walletsCount = true;
    },
    /**
     * Whether a call whose answer was lost was probably not charged: the units used stay at `before` for
     * `waitMs`. Not certain, because the service may count the call later.
     */
    async unmoved(before: number | null, waitMs: number, signal?: AbortSignal): Promise<boolean> {
      // At zero, a new month may have just started.
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
        // The usage is not known.
        return false;
      }
    },
    shortage(): Failure {
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
            `the next handle may cost ${unitsText(cu.reveal)} but only ${unitsText(left().units ?? 0)} are left`,
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
