import { type Backoff, type Clock, createBackoff } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { isDiskFull } from '../../base/files.ts';
import { stopCodeOf } from '../../core/pages/read-pages.ts';
import type { FeedPage, PageSource } from '../../core/pages/source.ts';
import { waitAfter } from '../failures.ts';
import type { TailNotice } from '../notice.ts';
import type { TailOptions } from '../ports.ts';
import { hasId, type PostFields } from '../post-row.ts';
import { type Money, waitsForUnits } from '../spend/units-left.ts';
import type { Timing } from '../timing.ts';
import type { WalkSource } from './walk.ts';

interface ReaderParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly timing: Pick<Timing, 'backoffMs' | 'backoffMaxMs'>;
  readonly options: Pick<TailOptions, 'waitForBudget' | 'firstTries'>;
  readonly money: Pick<Money, 'changed' | 'isGrantedOnce'>;
  readonly signal: AbortSignal;
  readonly notify: (notice: TailNotice) => void;
  readonly skip: (nameless: readonly PostFields[]) => void;
}

/** Each attempt includes the repetitions of the client. */
const FIRST_TRIES = 2;
/** The longest wait before a request that needs units is repeated: the user may top up. */
const UNITS_MS = 10 * 60_000;

/**
 * Repeats a failed request at its place for as long as it takes; only before the first page of a
 * run, it fails soon.
 */
export class PageReader {
  pages = 0;
  /** How often the first page is requested: a wrong address is to be reported soon. */
  readonly firstTries: number;
  /** Why the last request failed; undefined after an answer. */
  trouble: Failure | undefined;
  /** When the budget or the allowance renews that the reader waits for. */
  waitsUntil: number | null = null;
  #failed = 0;
  readonly #parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.firstTries = parts.options.firstTries ?? FIRST_TRIES;
  }

  /** Called before each walk. */
  begin(): void {
    this.#failed = 0;
  }

  /**
   * The pages of this source: each is requested until it arrives. Posts without an id are reported
   * and left out.
   */
  over(source: PageSource): WalkSource {
    const { signal, skip } = this.#parts;
    return {
      sizes: source.sizes,
      page: async (ask) => {
        const page = await this.#read(() => source.page(ask, signal));
        skip(page.rows.flatMap(({ id, record }) => (id === null ? [record] : [])));
        return { ...page, rows: page.rows.filter(hasId) };
      },
    };
  }

  async #read(request: () => Promise<FeedPage>) {
    const { clock, signal, timing, random } = this.#parts;
    // Each request has its own, because those of several feeds are repeated beside each other.
    const backoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, random);
    for (;;) {
      const [sentAt, sentTime] = [clock.mono(), clock.now()];
      try {
        const page = await request();
        this.#answered();
        return { ...page, sentAt, sentTime };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Failure) || stopCodeOf(error)) throw error;
        await this.#outlast(error, backoff);
      }
    }
  }

  #answered(): void {
    this.pages++;
    this.trouble = undefined;
    if (this.waitsUntil !== null) this.#parts.notify({ kind: 'renewed' });
    this.waitsUntil = null;
  }

  /** Waits before the request is repeated; throws a failure that no repetition outlasts. */
  async #outlast(failure: Failure, backoff: Backoff): Promise<void> {
    const { clock, options, money, signal, notify } = this.#parts;
    const unitsMs = waitsForUnits(failure, clock.now(), money.isGrantedOnce);
    if (options.waitForBudget && unitsMs !== undefined) {
      await this.#waitForUnits(failure, unitsMs);
      return;
    }
    if (failure.kind !== 'rate') this.#failed++;
    const isHopeless = this.pages === 0 && this.#failed >= this.firstTries;
    if (!isTransient(failure) || isHopeless) throw failure;
    this.trouble = failure;
    const askedMs = failure.kind === 'rate' ? waitAfter(failure) : 0;
    const ms = Math.max(backoff.next(), askedMs);
    notify({ kind: 'wait', ms, reason: failure.message });
    await clock.sleep(ms, signal);
  }

  async #waitForUnits(failure: Failure, ms: number): Promise<void> {
    const { clock, money, signal, notify } = this.#parts;
    const { changed } = money;
    // Use the wall clock, because the machine may have been suspended.
    const until = clock.now() + ms;
    this.trouble = failure;
    if (this.waitsUntil === null) notify({ kind: 'budget', until, reason: failure.message });
    this.waitsUntil = until;
    const wait = clock.sleep(
      Math.min(UNITS_MS, Math.max(1_000, ms)),
      AbortSignal.any([signal, changed]),
    );
    await wait.catch(() => signal.throwIfAborted());
  }
}

const isTransient = (failure: Failure): boolean =>
  failure.kind === 'rate' ||
  failure.kind === 'network' ||
  failure.kind === 'answer' ||
  (failure.kind === 'service' && failure.retryable) ||
  // The ledger, in which a call with a budget must be recorded before it is sent, is on a full
  // disk.
  isDiskFull(failure);
