import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { FeedPage } from '../../../src/core/pages/source.ts';
import { KnownPosts } from '../../../src/tail/known-posts.ts';
import { type PostMark, tailRow } from '../../../src/tail/post-row.ts';
import { timing } from '../../../src/tail/timing.ts';
import { type Depth, Walk, type Walked, walkReading } from '../../../src/tail/walk/walk.ts';
import { RowStack } from '../../../src/tail/walk/walk-rows.ts';
import { virtualClock } from '../../core/virtual-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const at = (secondsAgo: number) => NOW - secondsAgo * SECOND;

/** A feed with so many posts, one per second, newest first. */
const posts = (count: number): PostMark[] =>
  Array.from({ length: count }, (_, i) => ({ id: `p${i}`, at: at(i) }));

interface Given {
  readonly feed: readonly PostMark[];
  readonly known?: KnownPosts;
  readonly depth?: Depth;
  readonly backfill?: number;
  readonly isFirst?: boolean;
  /** Changes the answer to the nth request, from 0 on. */
  readonly change?: (page: FeedPage<string>, nth: number) => FeedPage<string>;
}

const verifiedTo = (secondsAgo: number) =>
  new KnownPosts({ start: at(secondsAgo), verified: at(secondsAgo) });

/** Makes one walk; returns it with the sizes of its requests and the ids of its rows, newest first. */
async function walk({
  feed,
  known = new KnownPosts(),
  depth = 'deep',
  backfill = 0,
  isFirst = true,
  change = (page) => page,
}: Given): Promise<{ walked: Walked; sizes: number[]; ids: string[] }> {
  const clock = virtualClock(NOW);
  const sizes: number[] = [];
  const stack = new RowStack(undefined);
  const made = new Walk({
    clock,
    known,
    stack,
    reading: walkReading({ clock, random: () => 0.5 }, timing, known, new AbortController().signal),
    source: {
      sizes: { step: 20, max: 100 },
      async page({ before, limit }) {
        sizes.push(limit);
        const from = before === undefined ? 0 : feed.findIndex(({ id }) => id === before) + 1;
        const shown = feed.slice(from, from + limit);
        const rows = shown.map((post) => tailRow({ ...post }, 'at')).filter((row) => row !== null);
        const hasMore = from + limit < feed.length;
        const page = { rows, hasMore, nextBefore: hasMore ? (rows.at(-1)?.id ?? null) : null };
        const changed = change(page, sizes.length - 1);
        return { ...changed, sentAt: clock.mono(), sentTime: clock.now() };
      },
    },
    decideDepth: () => depth,
    backfill,
    isFirst,
  });
  const walked = await made.run();
  const ids: string[] = [];
  for (let rows = await stack.take(); rows.length > 0; rows = await stack.take())
    ids.unshift(...rows.map(({ id }) => id).reverse());
  return { walked, sizes, ids };
}

describe('a deep walk', () => {
  test('ends at the third verified row in a row, and finishes its page', async () => {
    const { walked, ids, sizes } = await walk({ feed: posts(200), known: verifiedTo(30) });
    expect(walked).toMatchObject({ cut: undefined, pages: 2, rows: 40, oldest: at(39) });
    expect(ids).toEqual(posts(30).map(({ id }) => id));
    expect(sizes).toEqual([20, 20]);
  });

  test('is not ended by one old date, nor by posts without a time', async () => {
    const feed = posts(200).map((post, i) => {
      if (i === 3) return { ...post, at: at(99_999) };
      return i % 5 === 4 ? { ...post, at: null } : post;
    });
    const { walked } = await walk({ feed, known: verifiedTo(30) });
    expect(walked).toMatchObject({ cut: undefined, pages: 2 });
  });

  test('asks for one block at a time at the bottom of a feed, until three answers in a row report it', async () => {
    const known = () => verifiedTo(86_400);
    expect((await walk({ feed: [], known: known() })).sizes).toEqual([20, 20, 20]);
    expect((await walk({ feed: posts(5), known: known() })).sizes).toEqual([20, 20, 20, 20]);
    const long = await walk({ feed: posts(150), known: known() });
    expect(long.sizes).toEqual([20, 40, 100, 20, 20, 20]);
    expect(long.walked.cut).toBeUndefined();
  });

  test('believes the empty page of a feed without any post at once, but not in the first walk', async () => {
    expect((await walk({ feed: [], isFirst: false })).sizes).toEqual([20]);
    expect((await walk({ feed: [] })).sizes).toEqual([20, 20, 20]);
    const known = new KnownPosts({ verified: at(300), lowest: at(200) });
    known.sigma = at(0);
    expect((await walk({ feed: [], known, isFirst: false })).walked.cut).toBe('FEED_ENDED');
  });

  test('repeats an empty page at its place, and is given up only after five', async () => {
    const empty = <P extends FeedPage<string>>(page: P) => ({ ...page, rows: [], hasMore: true });
    const given = { feed: posts(200), known: verifiedTo(100) };
    const once = await walk({ ...given, change: (page, nth) => (nth === 1 ? empty(page) : page) });
    expect(once.walked.cut).toBeUndefined();
    const always = await walk({ ...given, change: (page, nth) => (nth > 0 ? empty(page) : page) });
    expect(always.walked).toMatchObject({ cut: 'WALK_STUCK', pages: 6, oldest: at(19) });
    expect(always.sizes.slice(2)).toEqual([20, 20, 20, 20]);
  });

  test('that no limit covers keeps the rows that it has read', async () => {
    const ceiling = new Failure('limit', 'no', { code: 'CEILING' });
    const { walked, ids } = await walk({
      feed: posts(200),
      known: verifiedTo(100),
      change(page, nth) {
        if (nth > 0) throw ceiling;
        return page;
      },
    });
    expect(walked).toMatchObject({ cut: 'unpaid', failure: ceiling, pages: 1, rows: 20 });
    expect(ids).toHaveLength(20);
  });

  test('learns the clock of the feed, and how many posts came since', async () => {
    const known = verifiedTo(60);
    known.sigma = at(32);
    const { walked } = await walk({ feed: posts(200), known });
    expect(known.sigma).toBe(at(2));
    expect(walked).toMatchObject({ newer: 30, coveredMs: 30 * SECOND });
  });
});

test('a shallow walk ends at the first row that is done', async () => {
  const known = verifiedTo(3_000);
  known.add({ id: 'p4', at: at(4) });
  const { walked, ids } = await walk({ feed: posts(200), known, depth: 'shallow' });
  expect(walked.pages).toBe(1);
  expect(ids).not.toContain('p4');
});

describe('a walk to the start of a run', () => {
  test('starts after the third newest post, and knows what is there', async () => {
    const known = new KnownPosts();
    const { walked } = await walk({ feed: posts(200), known, depth: 'start' });
    expect(walked).toMatchObject({ from: at(2), skippedTo: at(0), pages: 1 });
    expect(known.has('p19')).toBe(true);
    expect(known.sigma).toBeNull();
  });

  test('starts before the oldest post of the backfill', async () => {
    const { walked, ids, sizes } = await walk({ feed: posts(200), depth: 'start', backfill: 30 });
    expect(walked).toMatchObject({ from: at(29) - 1, skippedTo: at(30) });
    expect(ids.slice(0, 30)).toEqual(posts(30).map(({ id }) => id));
    expect(sizes).toEqual([20, 20]);
    const few = await walk({ feed: posts(5), depth: 'start', backfill: 500 });
    expect(few.sizes).toEqual([20, 20, 20, 20]);
  });

  test('reads on for three post times, but not for ever', async () => {
    const timeless = posts(2_000).map((post) => ({ ...post, at: null }));
    const { walked } = await walk({ feed: timeless, depth: 'start' });
    expect(walked).toMatchObject({ from: null, rows: 400 });
  });
});
