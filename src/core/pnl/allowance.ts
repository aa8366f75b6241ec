import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { BATCH_MAX } from '../../contract/limits.ts';
import type { Client, KeyMeters, Notice } from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';
import { SILENT_WAIT_MS } from '../spend/rate-limiter.ts';
import { isRejected } from './request-batch.ts';

/** The number of handles that the run can pay for at the maximum cost, and what limits it. */
interface Room {
  readonly handles: number;
  readonly by: 'QUOTA_EXCEEDED' | 'REVEAL_LIMIT_REACHED' | 'CEILING';
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
  let since = 0;
  let unchecked = 0;
  /** Each wallet in a batch counts as one reveal, as a rejection has shown. */
  let walletsCount = false;
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

  function shortage(): Failure {
    const { by } = room();
    const next = `the next handle may cost ${unitsText(cu.reveal)} but only`;
    if (by === 'CEILING') {
      const rest = unitsText(Math.max(0, (maxCu ?? 0) - client.spent.atMost));
      const limit = unitsText(maxCu ?? 0);
      const hint = 'raise --max-cu';
      return new Failure('limit', `${next} ${rest} of the spending limit (${limit}) remain`, {
        code: by,
        hint,
      });
    }
    const months = 'or wait for the next UTC month; "trdr me" shows what is left';
    if (by === 'QUOTA_EXCEEDED') {
      const rest = unitsText(left().units ?? 0);
      return new Failure('quota', `${next} ${rest} are left`, { code: by, hint: `top up, ${months}` });
    }
    const hint = `a top-up does not add reveals: upgrade the plan, ${months}`;
    return new Failure('quota', 'no wallet reveals are left this month', { code: by, hint });
  }

  return {
    refresh,
    async affordable(wanted: number, signal: AbortSignal | undefined): Promise<number> {
      if (unitsUsed() === null || since > unchecked) await refresh(signal);
      if (room().handles < wanted && since > 0) await refresh(signal);
      const { handles } = room();
      if (handles < 1) throw shortage();
      return Math.min(wanted, handles);
    },
    /** After an error that a smaller batch may avoid. Throws all other errors. */
    async smallerBatch(error: unknown, size: number, signal: AbortSignal | undefined): Promise<number> {
      if (isRejected(error)) return Math.ceil(size / 2);
      if (!(error instanceof Failure) || error.kind !== 'quota') throw error;
      await refresh(signal);
      if (error.code === 'REVEAL_LIMIT_REACHED') walletsCount = true;
      const { handles } = room();
      if (size === 1) throw handles < 1 ? shortage() : error;
      // The allowance covers the rejected batch, so the service counts reveals differently: try half.
      return handles < size ? BATCH_MAX : Math.floor(size / 2);
    },
    get unitsUsed(): number | null {
      return unitsUsed();
    },
    paid(wallets: number): void {
      since++;
      revealed += walletsCount ? wallets : Math.min(1, wallets);
    },
    lost(): void {
      isKnown = false;
      unchecked = 0;
    },
    /** The units used stay at `before` for `waitMs`. Not certain: the service may count the call later. */
    async unmoved(before: number | null, waitMs: number, signal?: AbortSignal): Promise<boolean> {
      // At zero, a new month may have just started.
      if (before === null || before === 0) return false;
      const standsStill = async () => (await client.call('me', {})).known.usage?.unitsUsed === before;
      try {
        if (!(await standsStill())) return false;
        const reason = 'checking whether the call without an answer was charged';
        if (waitMs > SILENT_WAIT_MS) notify?.({ kind: 'wait', ms: waitMs, reason });
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
  };
}
