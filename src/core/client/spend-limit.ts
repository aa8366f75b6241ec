import { Failure } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';
import type { Bounds } from '../../contract/endpoint.ts';

/** What a run has spent, and may have spent where an answer was lost. */
export interface Spent {
  /** CU that answers are known to have cost. */
  readonly cu: number;
  /** `cu`, and the most that lost answers may have cost. */
  readonly atMost: number;
  /** Paid calls sent. */
  readonly calls: number;
}

/** The most that one call can cost, set aside until its cost is known. */
export interface Reservation {
  /** The call was answered, and cost this. */
  settle(cu: number): void;
  /** The call was sent and no answer came: what was set aside stays so. */
  lose(): void;
  /** The call was not sent. */
  release(): void;
}

/** Keeps what is sent under a ceiling, however many calls are under way. */
export interface SpendLimit {
  /**
   * Sets aside the most that a call can cost. Where that does not fit only because of calls under way, it
   * waits for them: they may cost less. Rejects with a `limit` Failure where it can't fit any more.
   */
  reserve(bounds: Bounds, signal?: AbortSignal): Promise<Reservation>;
  readonly maxCu: number | undefined;
  readonly spent: Spent;
}

interface Waiter {
  readonly most: number;
  settle(outcome: Reservation | Failure): void;
}

/** What a budget is held to. */
export interface SpendLimitOptions {
  readonly maxCu?: number | undefined;
  /** What helps whoever meets the ceiling. */
  readonly hint?: string | undefined;
}

/** A budget, with a ceiling or without. */
export function createSpendLimit({
  maxCu,
  hint = 'allow more with --max-cu',
}: SpendLimitOptions = {}): SpendLimit {
  const ceiling = maxCu ?? Number.POSITIVE_INFINITY;
  const waiters: Waiter[] = [];
  let cu = 0;
  let lost = 0;
  let calls = 0;
  let reserved = 0;

  const fits = (most: number) => cu + lost + reserved + most <= ceiling;

  function take(most: number): Reservation {
    reserved += most;
    let open = true;
    const close = (then: () => void) => {
      if (!open) return;
      open = false;
      reserved -= most;
      then();
      admit();
    };
    return {
      settle: (cost) =>
        close(() => {
          cu += cost;
          if (cost > 0) calls++;
        }),
      lose: () =>
        close(() => {
          lost += most;
          calls++;
        }),
      release: () => close(() => {}),
    };
  }

  // In the order of asking, so that what a ceiling lets through does not depend on who answers first.
  function admit(): void {
    for (let first = waiters[0]; first; first = waiters[0]) {
      if (fits(first.most)) first.settle(take(first.most));
      else if (reserved === 0) first.settle(refusal(first.most));
      else return;
    }
  }

  const refusal = (most: number) =>
    new Failure(
      'limit',
      `the next call can cost ${unitsText(most)}, and ${group(Math.max(0, ceiling - cu - lost))} of the ${group(ceiling)} allowed are left`,
      {
        code: 'CEILING',
        hint,
      },
    );

  return {
    maxCu,
    get spent() {
      return { cu, atMost: cu + lost, calls };
    },
    reserve({ most }, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (most === 0) return Promise.resolve(take(0));
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          most,
          settle(outcome) {
            detach();
            if (outcome instanceof Failure) reject(outcome);
            else resolve(outcome);
          },
        };
        const detach = () => {
          waiters.splice(waiters.indexOf(waiter), 1);
          signal?.removeEventListener('abort', onAbort);
        };
        const onAbort = () => {
          detach();
          reject(signal?.reason);
          admit();
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        waiters.push(waiter);
        admit();
      });
    },
  };
}
