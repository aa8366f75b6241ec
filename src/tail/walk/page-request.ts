import type { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { isDiskFull } from '../../base/files.ts';
import { BUDGET } from '../../contract/budget.ts';
import { mayBeCharged } from '../../core/client/service-errors.ts';
import type { FeedPage, PageSource } from '../ports.ts';
import { waitAfter } from '../wait-after.ts';

/** Why a walk ended before it was complete. */
export type Cut = 'ceiling' | 'budget' | 'quota' | 'cursor' | 'stuck' | 'denied';

/** The dependencies of the requests of a walk. */
export interface PageRequestWorld {
  readonly clock: Clock;
  readonly source: PageSource;
  /** Whether the run may spend another `cu`. */
  readonly afford: (cu: number) => boolean | Promise<boolean>;
  readonly paid: (cu: number) => void;
  /** Called when an answer was lost that may have been charged. */
  readonly lost: (cu: number) => void;
  readonly wait: (ms: number, failure: Failure) => void;
  /**
   * Waits after a budget or the service has rejected a page because no units are left. If this function is
   * absent, the walk ends.
   */
  readonly renewal?: ((failure: Failure) => Promise<void>) | undefined;
  /** After this many failed requests in a row, the run ends; Infinity once the run has read a page. */
  readonly tries: () => number;
  readonly signal: AbortSignal;
}

type PageResult = { readonly page: FeedPage } | { readonly cut: Cut; readonly failure?: Failure };

/**
 * Requests one page. Retries after transient failures, which include every answer that is not from the service, but
 * throws after `tries` of them, not counting 429s. If the service rejects the first cursor of `before`, tries the
 * others.
 */
export async function requestPage(
  world: PageRequestWorld,
  before: readonly string[],
  limit: number,
  backoff: Backoff,
): Promise<PageResult> {
  let cursor = 0;
  let failed = 0;
  for (;;) {
    const id = before[cursor];
    // Check the limit before every attempt, because an attempt can be charged even if its answer is lost.
    const fits = world.afford(world.source.price(limit));
    if (fits === false || (fits !== true && !(await fits))) return { cut: 'ceiling' };
    try {
      const page = await world.source.page(
        id === undefined ? { limit } : { before: id, limit },
        world.signal,
      );
      world.paid(page.cu);
      backoff.reset();
      return { page };
    } catch (error) {
      world.signal.throwIfAborted();
      if (!(error instanceof Failure)) throw error;
      if (error.kind === 'limit' && error.code !== BUDGET) return { cut: 'ceiling', failure: error };
      if (error.kind === 'limit' || error.kind === 'quota') {
        if (!world.renewal) return { cut: error.kind === 'quota' ? 'quota' : 'budget', failure: error };
        await world.renewal(error);
        continue;
      }
      if (error.kind === 'usage' && id !== undefined) {
        cursor++;
        if (cursor >= before.length) return { cut: 'cursor' };
        continue;
      }
      if (mayBeCharged(error)) world.lost(world.source.price(limit));
      if (error.kind !== 'rate') failed++;
      if (!isTransient(error) || failed >= world.tries()) throw error;
      const ms = error.kind === 'rate' ? Math.max(backoff.next(), waitAfter(error)) : backoff.next();
      world.wait(ms, error);
      await world.clock.sleep(ms, world.signal);
    }
  }
}

/** Whether a retry can help. */
const isTransient = (failure: Failure): boolean =>
  failure.kind === 'rate' ||
  failure.kind === 'network' ||
  failure.kind === 'answer' ||
  (failure.kind === 'service' && failure.retryable) ||
  // The ledger, in which a call with a budget must be recorded before it is sent, is on a full disk.
  isDiskFull(failure);
