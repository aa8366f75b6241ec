import type { Clock } from '../../base/clock.ts';
import type { Failure } from '../../base/failure.ts';
import type { TailNotice } from '../notice.ts';
import { isOutOfUnits, waitsForUnits } from '../spend/renewal.ts';

/** Counts the pages that were read, and reports why pages cannot be read at the moment. */
export interface PageStatus {
  readonly pages: number;
  readonly trouble: Failure | undefined;
  /** When the budget or the allowance renews, in epoch milliseconds, if the tail waits for that. */
  readonly waitsUntil: number | undefined;
  /** Called when a page has arrived. */
  paid(): void;
  /** Called before a failed request is repeated. */
  wait(ms: number, failure: Failure): void;
  /**
   * Waits before a request that was rejected because no units were left is repeated: until the budget or the
   * allowance renews, but at most `BUDGET_MS`.
   */
  renewal(failure: Failure): Promise<void>;
}

/**
 * The longest wait before repeating a request that was rejected because no units were left. The wait is limited,
 * because the user may raise the budget or buy a top-up.
 */
const BUDGET_MS = 10 * 60_000;

export function createPageStatus(
  clock: Clock,
  notify: (notice: TailNotice) => void,
  signal: AbortSignal,
): PageStatus {
  let pages = 0;
  let trouble: Failure | undefined;
  let renewsAt: number | undefined;
  return {
    get pages() {
      return pages;
    },
    get trouble() {
      return trouble;
    },
    get waitsUntil() {
      return trouble && isOutOfUnits(trouble) ? renewsAt : undefined;
    },
    paid() {
      pages++;
      trouble = undefined;
      if (renewsAt !== undefined) notify({ kind: 'renewed' });
      renewsAt = undefined;
    },
    wait(ms, failure) {
      trouble = failure;
      notify({ kind: 'wait', ms, reason: failure.message });
    },
    async renewal(failure) {
      // Use the wall clock, because the machine may have been suspended.
      const ms = waitsForUnits(failure, clock.now()) ?? 0;
      trouble = failure;
      const until = clock.now() + ms;
      if (renewsAt === undefined) notify({ kind: 'budget', until, reason: failure.message });
      renewsAt = until;
      await clock.sleep(Math.min(BUDGET_MS, Math.max(1_000, ms)), signal);
    },
  };
}
