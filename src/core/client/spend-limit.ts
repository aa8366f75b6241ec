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

/** The most that one call can cost, held back until its cost is known. */
export interface Hold {
  /** The call was answered and cost this; `uncertain` more may have been charged. */
  settle(cu: number, uncertain?: number): void;
  /** The call was sent and no answer came: what was held back counts as spent until the end of the run. */
  lose(): void;
  /** The call was not sent. */
  release(): void;
}

/** Keeps what a run sends within its spending limit, however many calls are in flight. */
export interface SpendLimit {
  /**
   * Holds back the most that a call can cost. If only calls in flight stand in the way, it waits for them: they may
   * cost less. Rejects with a `limit` Failure once it cannot fit any more. A call that repeats one whose answer was
   * lost does not wait, and has to fit what the user agreed to as well.
   */
  reserve(bounds: Bounds, signal?: AbortSignal, options?: { readonly repeat?: boolean }): Promise<Hold>;
  /** Whether `cu` more fit what the user agreed to, for calls that repeat others. */
  mayRepeat(cu: number): boolean;
  readonly maxCu: number | undefined;
  readonly spent: Spent;
}

interface Waiter {
  readonly most: number;
  settle(outcome: Hold | Failure): void;
}

/** What a run may spend. The fields are read for each call, because a confirmation comes after the first free one. */
export interface SpendLimitOptions {
  readonly maxCu?: number | undefined;
  /** What the user agreed to where no limit was set: it bounds what calls with lost answers may cost again. */
  readonly agreed?: number | undefined;
  /** What to do about the limit. */
  readonly hint?: string | undefined;
}

/** The spending limit of one run; without `maxCu` it only counts. */
export function createSpendLimit(options: SpendLimitOptions = {}): SpendLimit {
  const ceiling = () => options.maxCu ?? Number.POSITIVE_INFINITY;
  const agreed = () => Math.min(ceiling(), options.agreed ?? Number.POSITIVE_INFINITY);
  const waiters: Waiter[] = [];
  let cu = 0;
  let lost = 0;
  let calls = 0;
  let reserved = 0;

  const fits = (most: number) => cu + lost + reserved + most <= ceiling();

  function take(most: number): Hold {
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
      settle: (cost, uncertain = 0) =>
        close(() => {
          cu += cost;
          lost += uncertain;
          if (cost + uncertain > 0) calls++;
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

  const refusal = (most: number) => {
    const left = Math.max(0, ceiling() - cu - lost);
    return new Failure(
      'limit',
      `the next call may cost ${unitsText(most)} but only ${group(left)} of ${unitsText(ceiling())} remain`,
      { code: 'CEILING', hint: options.hint ?? 'raise --max-cu' },
    );
  };

  const mayRepeat = (most: number, limit = agreed()) => cu + lost + reserved + most <= limit;

  return {
    get maxCu() {
      return options.maxCu;
    },
    mayRepeat,
    get spent() {
      return { cu, atMost: cu + lost, calls };
    },
    reserve({ most }, signal, { repeat = false } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (most === 0) return Promise.resolve(take(0));
      if (repeat && !mayRepeat(most, options.agreed ?? Number.POSITIVE_INFINITY)) {
        return Promise.reject(notAgreed(most));
      }
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

/** The refusal of a call that would pay again for a lost answer beyond what the user agreed to. */
const notAgreed = (most: number) =>
  new Failure('limit', `repeating the call may cost another ${unitsText(most)}, beyond the confirmed cost`, {
    code: 'NOT_AGREED',
    hint: 'run it again to request it once more',
  });
