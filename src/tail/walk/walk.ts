import { createBackoff } from '../../base/backoff.ts';
import type { Failure } from '../../base/failure.ts';
import type { FeedPage } from '../ports.ts';
import type { PostFields, PostMark, TailRow } from '../row.ts';
import type { PollSizer } from '../spend/pace.ts';
import { orderedRows, settledRows } from './page-order.ts';
import { type Cut, type PageRequestWorld, requestPage } from './page-request.ts';
import type { RowStack } from './row-stack.ts';

/** How far a walk reads and which posts it returns. Both are determined again when the walk restarts. */
export interface WalkBounds {
  /** Whether a post is out of range. The walk ends with the page of the first such post. */
  beyond(row: TailRow): boolean;
  /** Whether to return a post; called for every post of every page, including posts out of range. */
  keep(row: TailRow, beyond: boolean): boolean;
  /**
   * The post time back to which the walk reads, for estimating how many posts are left. Null if the walk does not
   * end at a post time.
   */
  target(): number | null;
  /** Whether a post is at the watermark or older; true if there is no watermark. */
  isKnown(row: TailRow): boolean;
}

/** The parts and settings of a walk. */
export interface WalkWorld extends PageRequestWorld {
  readonly random: () => number;
  readonly sizer: PollSizer;
  readonly stack: RowStack;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
  /** Called when the first page has arrived, before its posts are examined. */
  readonly route: () => WalkBounds;
  /** Called with posts that were skipped because they have no id. */
  readonly nameless: (records: readonly PostFields[]) => void;
}

/** The result of a walk. */
export interface Walked {
  /** Why the walk ended early; undefined if it is complete. */
  readonly cut: Cut | undefined;
  /** The failure that ended the walk early, if there was one. */
  readonly failure: Failure | undefined;
  /** The newest rows with a post time; if none has a time, the newest rows. */
  readonly first: readonly TailRow[];
  /** The oldest row that was read. */
  readonly reached: PostMark | null;
  /** Whether the walk reached the oldest post of the feed. */
  readonly bottom: boolean;
  /**
   * The monotonic time at which the first page was requested. The walk verifies all posts from before this
   * time.
   */
  readonly startedAt: number;
  readonly pages: number;
  readonly rows: number;
}

/** The number of newest rows that determine the watermark. */
const FIRST_ROWS = 10;
/** The number of consecutive pages without new rows after which a walk counts as stuck. */
const IDLE_PAGES = 3;
/** How many other ids of a page are tried as a cursor if the service rejects the first one. */
const OTHER_CURSORS = 3;

type Leg = Omit<Walked, 'cut' | 'failure'>;
type LegEnd = { readonly leg: Leg; readonly cut: Cut | undefined; readonly failure?: Failure };

/**
 * Reads pages from the newest to older ones. If the service prevents a walk from continuing, for a reason other
 * than cost, the walk restarts at the newest page, once.
 */
export async function walk(world: WalkWorld): Promise<Walked> {
  let end = await walkOnce(world);
  if (end.cut === 'cursor' || end.cut === 'stuck' || end.cut === 'denied') {
    await world.stack.clear();
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
  // The last rows of a page. Whether their times are plausible depends on the next page.
  let pending: readonly TailRow[] = [];
  // Set after a page that the service reports as the last one, which another request must confirm. The value
  // states whether that page was full or short.
  let uncertain: 'full' | 'short' | undefined;
  let limit = sizer.first();
  let leg: Leg = { first: [], reached: null, bottom: false, startedAt: clock.mono(), pages: 0, rows: 0 };

  for (;;) {
    const askedAt = clock.mono();
    const result = await requestPage(world, before, limit, backoff);
    if ('cut' in result) return { leg, ...result };
    const { page } = result;
    world.nameless(page.nameless ?? []);
    if (leg.rows === 0) leg = { ...leg, startedAt: askedAt };
    route ??= world.route();
    const size = page.rows.length + (page.nameless?.length ?? 0);
    sizer.learn(limit, size, page.hasMore);

    // If a page is empty although the service reports that more posts follow, do not use its `nextBefore`, which
    // could skip posts.
    if (size === 0 && page.hasMore) {
      leg = { ...leg, pages: leg.pages + 1 };
      if (++idle >= IDLE_PAGES) return { leg, cut: 'stuck' };
      await clock.sleep(backoff.next(), world.signal);
      continue;
    }

    // If the service rejected the first cursor, this page overlaps the page before it. New posts in the overlap
    // appeared late. Leave them to the next walk, so that the rows of this walk stay in order.
    const came = page.rows.slice(page.rows.findLastIndex((row) => previous.has(row.id)) + 1);
    const all = [...pending, ...came];
    const ordered = orderedRows(all, clock.now());
    const settledCount = settledRows(ordered);
    known ||= ordered.slice(0, settledCount).some(route.isKnown);
    const full = size >= world.source.sizes.step;
    const continues = page.hasMore || (page.rows.length > 0 && (full || !known));
    const settled = continues ? settledCount : ordered.length;
    const news = ordered.slice(0, settled);
    pending = all.slice(settled);
    const kept: TailRow[] = [];
    let beyond = false;
    for (const [i, row] of news.entries()) {
      // Do not end the walk because of a time that no later row confirms, not even on a page that the service
      // reports as the last one.
      beyond ||= i < settledCount && route.beyond(row);
      if (route.keep(row, beyond)) kept.push(row);
    }
    await world.stack.push(kept);
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
      if (!last) return { leg, cut: leg.rows > 0 && !known && uncertain !== 'short' ? 'denied' : undefined };
      uncertain = full ? 'full' : 'short';
      if (uncertain === 'short' && known) return { leg, cut: undefined };
    } else uncertain = undefined;

    // Without `nextBefore`, use the oldest row of the page as the cursor.
    const next = page.nextBefore ?? last?.id;
    idle = came.length === 0 ? idle + 1 : 0;
    if (next === undefined || cursors.has(next) || idle >= IDLE_PAGES) return { leg, cut: 'stuck' };
    cursors.add(next);
    const others = page.rows.map((row) => row.id).filter((id) => id !== next);
    before = [next, ...others.reverse().slice(0, OTHER_CURSORS)];
    previous = new Set(page.rows.map((row) => row.id));
    limit = sizer.next(expectedRows(page, route.target()));
  }
}

/**
 * The first rows with a post time; if none has a time, the first rows. Pages may list posts without a time first,
 * so the position of such a post does not show whether it is new.
 */
function firstOf(first: readonly TailRow[], more: readonly TailRow[]): readonly TailRow[] {
  if (first.length >= FIRST_ROWS && first[0]?.at !== null) return first;
  const all = [...first, ...more];
  const timed = all.filter(({ at }) => at !== null);
  return (timed.length > 0 ? timed : all).slice(0, FIRST_ROWS);
}

/** How many more rows to expect if posts are as frequent as on this page. */
function expectedRows(page: FeedPage, target: number | null): number {
  const times = page.rows.map((row) => row.at).filter((at) => at !== null);
  const newest = times[0];
  const oldest = times.at(-1);
  if (target === null || newest === undefined || oldest === undefined) return 0;
  if (oldest <= target) return 0;
  if (newest <= oldest) return page.rows.length;
  // Round down, because rows that are requested but not needed are charged too.
  return Math.floor(((oldest - target) / (newest - oldest)) * page.rows.length);
}
