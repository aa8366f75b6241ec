import type { PriceBounds } from '../../contract/endpoint.ts';
import type { Ledger, Slot } from '../../contract/ports.ts';
import type { SpendLimit } from './limit.ts';
import type { LaneName, Limiter } from './rate-limiter.ts';

/** A call, or a minute of the WebSocket, that is about to be paid for. */
interface Purchase {
  /** The name of the call in the ledger. */
  readonly endpoint: string;
  /** The possible cost; undefined if the price is not known. */
  readonly bounds: PriceBounds | undefined;
  /** The rate limit that the call waits for; undefined for a minute of the WebSocket. */
  readonly lane?: LaneName | undefined;
  /** The latest time by the monotonic clock at which the rate limit may let the call start. */
  readonly until?: number | undefined;
}

const FREE: PriceBounds = { least: 0, most: 0, reveals: 0 };

/** The one way to pay: through the spending limit of the run, the rate limit, and the ledger with its budgets. */
export type Spend = ReturnType<typeof createSpend>;

export function createSpend(limit: SpendLimit, limiter: Limiter, ledger: Ledger | undefined) {
  const writing = new Set<Promise<void>>();
  // An answer is returned before its cost is written; `settled` waits for all writes.
  const write = (written: Promise<void> | undefined) => {
    if (!written) return;
    writing.add(written);
    written.finally(() => writing.delete(written)).catch(() => {});
  };

  return {
    /**
     * Waits until the call may be sent, and counts its maximum cost. Nothing of a rejected call stays counted. With
     * `repeat`, the call repeats one whose answer was lost.
     */
    async reserve(
      { endpoint, bounds, lane, until }: Purchase,
      signal: AbortSignal | undefined,
      { repeat }: { readonly repeat?: boolean } = {},
    ): Promise<Slot> {
      const standing = lane === undefined;
      const hold = await limit.reserve(bounds ?? FREE, signal, { repeat, standing });
      let recorded: Slot<Promise<void>> | undefined;
      try {
        if (lane !== undefined) await limiter.acquire(lane, signal, until);
        signal?.throwIfAborted();
        if (bounds?.most !== 0) recorded = await ledger?.begin({ endpoint, most: bounds?.most }, signal);
      } catch (error) {
        hold.release();
        throw error;
      }
      return {
        settle(cost) {
          hold.settle(cost);
          write(recorded?.settle(cost));
        },
        lose(end = {}) {
          if (bounds?.most === 0) hold.release();
          else hold.lose();
          write(recorded?.lose(end));
        },
        release() {
          hold.release();
          write(recorded?.release());
        },
      };
    },
    /** Resolves when the outcomes of all ended calls are in the ledger. */
    async settled(): Promise<void> {
      await Promise.allSettled(writing);
    },
  };
}
