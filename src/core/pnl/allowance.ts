import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { Client, KeyMeters, Notice } from '../../contract/ports/client.ts';
import { untilRenewal } from '../account.ts';
import { SILENT_WAIT_MS } from '../spend/rate-limiter.ts';
import { isRejected } from './request-batch.ts';

/** Each request of the usage counts against the rate limit. */
const LOOK_MS = 5_000;

/** How much a run may still spend, by the key and by its spending limit. */
export type Allowance = ReturnType<typeof createAllowance>;

export function createAllowance(
  client: Pick<Client, 'call' | 'spent' | 'left'>,
  clock: Pick<Clock, 'sleep'>,
  maxCu?: number,
  notify?: (notice: Notice) => void,
) {
  /** Whether nothing was requested since the last answer of `me`. */
  let isFresh = false;
  /** Each wallet in a batch counts as one reveal, as a rejection has shown. */
  let walletsCount = false;

  /** `me` is free. */
  async function refresh(signal?: AbortSignal): Promise<KeyMeters> {
    await client.call('me', {}, { signal });
    isFresh = true;
    return client.left.key ?? { units: null, reveals: null, isGrantedOnce: false };
  }

  /**
   * The number of handles that the run can pay for at the maximum cost, and the failure if it is 0.
   */
  function room() {
    const { units = null, reveals = null, isGrantedOnce = false } = client.left.key ?? {};
    const afforded = (most: number) => Math.max(0, Math.floor(most / cu.reveal));
    const next = `the next handle may cost ${unitsText(cu.reveal)} but only`;
    const shown = '"trdr me" shows what is left';
    const limits: { readonly handles: number; readonly failure: Failure }[] = [];
    if (maxCu !== undefined) {
      const left = Math.max(0, maxCu - client.spent.atMost);
      const text = `${next} ${unitsText(left)} of the spending limit (${unitsText(maxCu)}) remain`;
      const failure = new Failure('limit', text, { code: 'CEILING', hint: 'raise --max-cu' });
      limits.push({ handles: afforded(left), failure });
    }
    if (units !== null) {
      const how = {
        code: 'QUOTA_EXCEEDED',
        hint: `top up, ${untilRenewal({ isGrantedOnce })}; ${shown}`,
      };
      const failure = new Failure('quota', `${next} ${unitsText(units)} are left`, how);
      limits.push({ handles: afforded(units), failure });
    }
    // The service does not document whether a batch counts as one reveal. Assume so until a call is
    // rejected.
    if (reveals !== null && (walletsCount || reveals < 1)) {
      const hint = `a top-up does not add reveals: upgrade the plan, or wait for the next UTC month; ${shown}`;
      const how = { code: 'REVEAL_LIMIT_REACHED', hint };
      const failure = new Failure('quota', 'no wallet reveals are left this month', how);
      limits.push({ handles: Math.max(0, reveals), failure });
    }
    const [least] = limits.sort((one, other) => one.handles - other.handles);
    return least ?? { handles: Number.POSITIVE_INFINITY, failure: undefined };
  }

  return {
    refresh,
    /**
     * How many of the wanted handles the next batch may have. Other processes may have spent with
     * the same key.
     */
    async affordable(wanted: number, signal: AbortSignal | undefined): Promise<number> {
      if (!isFresh) await refresh(signal);
      isFresh = false;
      const { handles, failure } = room();
      if (handles < 1) throw failure;
      return Math.min(wanted, handles);
    },
    /** After an error that a smaller batch may avoid. Throws all other errors. */
    async smallerBatch(
      error: unknown,
      size: number,
      signal: AbortSignal | undefined,
    ): Promise<number> {
      if (isRejected(error)) return Math.ceil(size / 2);
      const budgeted = withinBudget(error, size);
      if (budgeted > 0) return budgeted;
      if (!(error instanceof Failure) || error.kind !== 'quota') throw error;
      await refresh(signal);
      if (error.code === 'REVEAL_LIMIT_REACHED') walletsCount = true;
      const { handles, failure } = room();
      if (size === 1) throw handles < 1 ? failure : error;
      // The allowance covers the rejected batch, so the service counts reveals differently: try
      // half.
      return handles < size ? BATCH_MAX : Math.floor(size / 2);
    },
    /**
     * The units used stay at `before` for `waitMs`. Not certain: the service may count the call
     * later.
     */
    async unmoved(before: number | null, waitMs: number, signal?: AbortSignal): Promise<boolean> {
      // At zero, a new month may have just started.
      if (before === null || before === 0) return false;
      const standsStill = async () =>
        (await client.call('me', {})).known.usage?.unitsUsed === before;
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

/** The size of a smaller batch that the budget covers, which refused one of `size`; 0 if there is none. */
function withinBudget(error: unknown, size: number): number {
  const facts = error instanceof Failure ? error.facts : undefined;
  if (facts?.about !== 'budget' || !facts.isPriceKnown) return 0;
  return Math.min(size - 1, Math.floor(facts.left / cu.reveal));
}
