import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import type { PriceBounds } from '../../contract/endpoint.ts';
import type { CallCost, Slot } from '../../contract/ports.ts';

/** What a run has spent. */
export interface Spent {
  /** The CU that answers are known to have cost. */
  readonly cu: number;
  /** `cu` plus the CU that may have been charged in addition, for example for lost answers. */
  readonly atMost: number;
  /** The number of ended calls that were or may have been charged. */
  readonly calls: number;
}

/** The maximum cost of one call, which counts as spent until the actual cost is known, or until the run ends. */
type Hold = Slot<void, Pick<CallCost, 'cu' | 'cuAtMost'>>;

interface Waiter {
  readonly most: number;
  readonly standing: boolean;
  resolve(hold: Hold): void;
  reject(error: unknown): void;
}

/**
 * The limits of a run. They are read again for every call, because they can change during the run, for
 * example when the user confirms the cost.
 */
interface SpendLimitOptions {
  readonly limit?: number | undefined;
  /**
   * The cost that the user confirmed, at the prompt or with --yes, in CU; undefined without a confirmation. If it
   * is set, calls whose answers were lost are repeated only within this cost.
   */
  readonly agreed?: number | undefined;
  /** The hint of the error: how to raise the limit. */
  readonly hint?: string | undefined;
  /**
   * Asks the user to raise the limit, so that at least another `most` CU can be spent; resolves to false if the
   * user declines. Questions are asked one at a time, and never again after the user has declined.
   */
  raise?(most: number): Promise<boolean>;
  /** The failure to throw for a call that the limit cannot cover; undefined for the usual failure. */
  stopped?(): Failure | undefined;
}

/** Ensures that a run stays within its spending limit, with any number of calls in flight. */
export type SpendLimit = ReturnType<typeof createSpendLimit>;

/** Creates the spending limit of a run. Without `limit`, spending is counted but not limited. */
export function createSpendLimit(options: SpendLimitOptions = {}) {
  const ceiling = () => options.limit ?? Number.POSITIVE_INFINITY;
  const agreed = () => Math.min(ceiling(), options.agreed ?? Number.POSITIVE_INFINITY);
  const waiters: Waiter[] = [];
  let cu = 0;
  let lost = 0;
  let calls = 0;
  let reserved = 0;
  /** The part of `reserved` for which no call waits. */
  let standing = 0;
  let raising = false;
  let mayRaise = true;

  const fits = (most: number) => cu + lost + reserved + most <= ceiling();

  function take(most: number, stands: boolean): Hold {
    reserved += most;
    if (stands) standing += most;
    let open = true;
    const close = (then: () => void) => {
      if (!open) return;
      open = false;
      reserved -= most;
      if (stands) standing -= most;
      then();
      admit();
    };
    return {
      settle: ({ cu: cost, cuAtMost = 0 }) =>
        close(() => {
          cu += cost;
          lost += cuAtMost;
          if (cost + cuAtMost > 0) calls++;
        }),
      lose: () =>
        close(() => {
          lost += most;
          calls++;
        }),
      release: () => close(() => {}),
    };
  }

  // Waiting calls are admitted in order, so that the result does not depend on which answer arrives first.
  function admit(): void {
    for (let first = waiters[0]; first && !raising; first = waiters[0]) {
      if (fits(first.most)) first.resolve(take(first.most, first.standing));
      else if (reserved > standing) return;
      else if (options.raise && mayRaise) raise(options.raise(first.most));
      else first.reject(refusal(first.most));
    }
  }

  function raise(answer: Promise<boolean>): void {
    raising = true;
    answer
      .then(
        (raised) => {
          mayRaise = raised;
        },
        (error: unknown) => {
          mayRaise = false;
          for (const waiter of [...waiters]) waiter.reject(error);
        },
      )
      .finally(() => {
        raising = false;
        admit();
      });
  }

  const refusal = (most: number) => {
    const left = Math.max(0, ceiling() - cu - lost - standing);
    return (
      options.stopped?.() ??
      new Failure(
        'limit',
        `the next call may cost ${unitsText(most)} but only ${unitsText(left)} of the spending limit (${unitsText(ceiling())}) remain`,
        {
          code: 'CEILING',
          hint: options.hint ?? 'raise --max-cu',
        },
      )
    );
  };

  const affords = (most: number, limit = agreed()) => cu + lost + reserved + most <= limit;

  return {
    get maxCu(): number | undefined {
      return options.limit;
    },
    /** Whether the confirmed cost and the spending limit cover another `cu`. */
    affords: (most: number): boolean => affords(most),
    get spent(): Spent {
      return { cu, atMost: cu + lost + standing, calls };
    },
    /**
     * Reserves the maximum cost of a call. If the rest of the limit is too small only because of calls in
     * flight, waits until their actual cost is known. Rejects with a `limit` Failure if the limit cannot cover
     * the call. If the call repeats one whose answer was lost, and the confirmed cost does not cover the two
     * calls, rejects at once. Nothing waits for `standing` costs to become known: the minutes of an open WebSocket.
     */
    reserve(
      { most }: PriceBounds,
      signal?: AbortSignal,
      {
        repeat = false,
        standing: stands = false,
      }: { readonly repeat?: boolean | undefined; readonly standing?: boolean } = {},
    ): Promise<Hold> {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (most === 0) return Promise.resolve(take(0, false));
      if (repeat && !affords(most, options.agreed ?? Number.POSITIVE_INFINITY)) {
        return Promise.reject(notAgreed(most));
      }
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          most,
          standing: stands,
          resolve(hold) {
            detach();
            resolve(hold);
          },
          reject(error) {
            detach();
            reject(error);
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

/** The error for a repeated call that would exceed the confirmed cost. */
const notAgreed = (most: number) =>
  new Failure(
    'limit',
    `the answer was lost, and requesting it again may cost another ${unitsText(most)}, beyond the confirmed cost`,
    {
      code: 'NOT_AGREED',
      hint: 'run the command again to repeat the request',
    },
  );
