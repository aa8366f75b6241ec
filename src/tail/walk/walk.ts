import { type Backoff, createBackoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { BUDGET } from '../../contract/budget.ts';
import type { FeedPage, PageSource } from '../ports.ts';
import type { PostFields, PostMark, TailRow } from '../row.ts';
import type { PollSizer } from '../spend/pace.ts';
import { orderedRows, settledRows } from './page-order.ts';
import type { RowStack } from './row-stack.ts';

/** Why a walk could not be brought to its end. */
export type Cut = 'ceiling' | 'budget' | 'quota' | 'cursor' | 'stuck' | 'denied';

/** What a walk has to do, decided again whenever it restarts. */
export interface WalkBounds {
  /** True for the first row that need not be walked to: the walk ends with its page. */
  beyond(row: TailRow): boolean;
  /** Whether a row is to be kept; every row of every page is shown, those beyond too. */
  keep(row: TailRow, beyond: boolean): boolean;
  /** Post time down to which the walk will go, to guess how many rows are to come. */
  target(): number | null;
  /** Whether a row is at or below the newest place that is known to exist; true where none is known. */
  isKnown(row: TailRow): boolean;
}

/** What a walk needs. */
export interface WalkWorld {
  readonly clock: Clock;
  readonly random: () => number;
  readonly source: PageSource;
  readonly sizer: PollSizer;
  readonly pile: RowStack;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
  /** How many times in a row the first page may fail; what is under way never gives up. */
  readonly tries: number;
  /** Called when the first page is there, before any of its rows is looked at. */
  readonly route: () => WalkBounds;
  /** Posts without an id were skipped. */
  readonly nameless: (records: readonly PostFields[]) => void;
  /** Whether `cu` more can be paid. */
  readonly afford: (cu: number) => boolean | Promise<boolean>;
  readonly paid: (cu: number) => void;
  /** An answer was lost that may have been paid for. */
  readonly lost: (cu: number) => void;
  readonly wait: (ms: number, failure: Failure) => void;
  /** Waits where a budget has refused a page; absent where that ends the walk. */
  readonly renewal?: ((failure: Failure) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
}

/** What a walk came to. */
export interface Walked {
  readonly cut: Cut | undefined;
  /** Why the service or the user ended it, where one of them did. */
  readonly failure: Failure | undefined;
  /** The newest rows that have a time, or the newest where none has. */
  readonly first: readonly TailRow[];
  /** The oldest row that was read. */
  readonly reached: PostMark | null;
  /** Whether the feed's own end was reached. */
  readonly bottom: boolean;
  /** Monotonic time at which the first page was asked for: the walk proves what was there then. */
  readonly startedAt: number;
  readonly pages: number;
  readonly rows: number;
}

/** Rows at the top that notify where a feed stands. */
const FIRST_ROWS = 10;
/** Pages in a row that may bring nothing new. */
const IDLE_PAGES = 3;
/** Other ids of a page that stand in for a cursor which the service no longer knows. */
const STAND_INS = 3;

type Leg = Omit<Walked, 'cut' | 'failure'>;
type LegEnd = { readonly leg: Leg; readonly cut: Cut | undefined; readonly failure?: Failure };

/** Walks pages from the newest down. A walk that could not be finished starts again from the top, once. */
export async function walk(world: WalkWorld): Promise<Walked> {
  let end = await walkOnce(world);
  if (end.cut === 'cursor' || end.cut === 'stuck' || end.cut === 'denied') {
    await world.pile.clear();
    end = await walkOnce(world);
  }
  return { ...end.leg, cut: end.cut, failure: end.failure };
}

async function walkOnce(world: WalkWorld): Promise<LegEnd> {
  const { sizer, clock } = world;
  const backoff = createBackoff(world.backoff.firstMs, world.backoff.maxMs, world.random);
  const cursors = new Set<string>();
  let before: readonly string[] = [];
  let previous = new Set<string>();
  let route: WalkBounds | undefined;
  let idle = 0;
  let known = false;
  // The last rows of a page, where only the next one tells whether their times are to be believed.
  let pending: readonly TailRow[] = [];
  // The last page is asked what is below it where it contradicts what is known.
  let doubted: 'full' | 'short' | undefined;
  let limit = sizer.first();
  let leg: Leg = { first: [], reached: null, bottom: false, startedAt: clock.mono(), pages: 0, rows: 0 };

  for (;;) {
    const askedAt = clock.mono();
    const tries = leg.pages === 0 ? world.tries : Number.POSITIVE_INFINITY;
    const got = await ask(world, before, limit, backoff, tries);
    if ('cut' in got) return { leg, ...got };
    const { page } = got;
    world.nameless(page.nameless ?? []);
    if (leg.rows === 0) leg = { ...leg, startedAt: askedAt };
    route ??= world.route();
    const size = page.rows.length + (page.nameless?.length ?? 0);
    sizer.learn(limit, size, page.hasMore);

    // An empty page with more behind it has no position to continue from: its cursor could skip posts.
    if (size === 0 && page.hasMore) {
      leg = { ...leg, pages: leg.pages + 1 };
      if (++idle >= IDLE_PAGES) return { leg, cut: 'stuck' };
      await clock.sleep(backoff.next(), world.signal);
      continue;
    }

    // Pages overlap where a stand-in led here. What has turned up within the overlap is late: to keep the order of
    // the walk, it is left to the next one.
    const came = page.rows.slice(page.rows.findLastIndex((row) => previous.has(row.id)) + 1);
    const all = [...pending, ...came];
    const ordered = orderedRows(all, clock.now());
    const sure = settledRows(ordered);
    known ||= ordered.slice(0, sure).some(route.isKnown);
    const full = size >= world.source.sizes.step;
    const goesOn = page.hasMore || (page.rows.length > 0 && (full || !known));
    const settled = goesOn ? sure : ordered.length;
    const news = ordered.slice(0, settled);
    pending = all.slice(settled);
    const kept: TailRow[] = [];
    let beyond = false;
    for (const [i, row] of news.entries()) {
      // A time that nothing below confirms does not end a walk, even on a page that claims to be the last.
      beyond ||= i < sure && route.beyond(row);
      if (route.keep(row, beyond)) kept.push(row);
    }
    await world.pile.push(kept);
    const last = page.rows.at(-1);
    const lowest = news.at(-1);
    leg = {
      ...leg,
      first: firstOf(leg.first, news),
      pages: leg.pages + 1,
      rows: leg.rows + news.length,
      reached: lowest ? { id: lowest.id, at: lowest.at } : leg.reached,
      bottom: !page.hasMore,
    };
    if (beyond) return { leg, cut: undefined };
    if (!page.hasMore) {
      if (!last) return { leg, cut: leg.rows > 0 && !known && doubted !== 'short' ? 'denied' : undefined };
      doubted = full ? 'full' : 'short';
      if (doubted === 'short' && known) return { leg, cut: undefined };
    } else doubted = undefined;

    // `nextBefore` leads on; where it is missing, it can only be the page's oldest row.
    const next = page.nextBefore ?? last?.id;
    idle = came.length === 0 ? idle + 1 : 0;
    if (next === undefined || cursors.has(next) || idle >= IDLE_PAGES) return { leg, cut: 'stuck' };
    cursors.add(next);
    const others = page.rows.map((row) => row.id).filter((id) => id !== next);
    before = [next, ...others.reverse().slice(0, STAND_INS)];
    previous = new Set(page.rows.map((row) => row.id));
    limit = sizer.next(expectedRows(page, route.target()));
  }
}

/** Posts without a time may stand above all others: the feed's top is the newest with one. */
function firstOf(first: readonly TailRow[], more: readonly TailRow[]): readonly TailRow[] {
  if (first.length >= FIRST_ROWS && first[0]?.at !== null) return first;
  const all = [...first, ...more];
  const timed = all.filter(({ at }) => at !== null);
  return (timed.length > 0 ? timed : all).slice(0, FIRST_ROWS);
}

/** Rows still to come if the feed continues as densely as on this page. */
function expectedRows(page: FeedPage, target: number | null): number {
  const times = page.rows.map((row) => row.at).filter((at) => at !== null);
  const newest = times[0];
  const oldest = times.at(-1);
  if (target === null || newest === undefined || oldest === undefined) return 0;
  if (oldest <= target) return 0;
  if (newest <= oldest) return page.rows.length;
  // Not one row more than is likely: a page that is too large costs more, one that is too small does not.
  return Math.floor(((oldest - target) / (newest - oldest)) * page.rows.length);
}

type Got = { readonly page: FeedPage } | { readonly cut: Cut; readonly failure?: Failure };

/** Asks for one page for as long as it takes. Cursors are tried in turn where the service does not know the first. */
async function ask(
  world: WalkWorld,
  before: readonly string[],
  limit: number,
  backoff: Backoff,
  tries: number,
): Promise<Got> {
  let cursor = 0;
  let failed = 0;
  for (;;) {
    const id = before[cursor];
    // Each try can be counted, whether its answer comes or not.
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
      if (error.kind === 'quota') return { cut: 'quota', failure: error };
      if (error.kind === 'limit' && error.code !== BUDGET) return { cut: 'ceiling', failure: error };
      if (error.kind === 'limit') {
        if (!world.renewal) return { cut: 'budget', failure: error };
        await world.renewal(error);
        continue;
      }
      if (error.kind === 'usage' && id !== undefined) {
        cursor++;
        if (cursor >= before.length) return { cut: 'cursor' };
        continue;
      }
      if (mayBePaid(error)) world.lost(world.source.price(limit));
      if (error.kind !== 'rate') failed++;
      if (!passes(error) || failed >= tries) throw error;
      const ms = error.kind === 'rate' ? Math.max(backoff.next(), waitOf(error)) : backoff.next();
      world.wait(ms, error);
      await world.clock.sleep(ms, world.signal);
    }
  }
}

const waitOf = (failure: Failure) => (failure.retryAfter ?? 0) * 1_000;

/** Failures that asking again can end. */
const passes = (failure: Failure): boolean =>
  failure.kind === 'rate' ||
  failure.kind === 'network' ||
  failure.kind === 'answer' ||
  (failure.kind === 'service' && failure.retryable);

/** Failures behind which the service may have counted a page. */
const mayBePaid = (failure: Failure): boolean =>
  failure.kind === 'answer' || (failure.kind === 'network' && failure.code !== 'UNREACHABLE');
