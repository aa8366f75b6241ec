import type { Clock } from '../../base/clock.ts';
import { resetsIn } from './renewal.ts';

/** The units of the key of which the WebSocket may use a share, and how many the WebSocket has used. */
export interface Share {
  /** Called with the units that the key has left; null if unlimited. */
  learn(remaining: number | null): void;
  /**
   * The units that the key had left when the run started, or when its allowance last reset; null if unlimited or not
   * known.
   */
  readonly of: number | null;
  /** The CU that the WebSocket has used since then. */
  readonly used: number;
}

/**
 * `of` and `used` start over when the allowance resets at the end of the UTC month. Otherwise, a tail that runs for
 * months would stream only in its first month. `socketSpent` returns the CU that the WebSocket has used in the whole
 * run.
 */
export function createShare(clock: Pick<Clock, 'now'>, socketSpent: () => number): Share {
  let of: number | null = null;
  let before = 0;
  let last: number | null = null;
  let resetsAt = Number.POSITIVE_INFINITY;
  return {
    learn(remaining) {
      // The clock of the service may be behind: after the end of the month, wait until `remaining` has increased.
      const isReset = clock.now() >= resetsAt && remaining !== null && last !== null && remaining > last;
      if (of === null || isReset) {
        of = remaining;
        before = isReset ? socketSpent() : 0;
        resetsAt = clock.now() + resetsIn(clock.now());
      }
      last = remaining;
    },
    get of() {
      return of;
    },
    get used() {
      return socketSpent() - before;
    },
  };
}
