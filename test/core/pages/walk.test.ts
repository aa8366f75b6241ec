import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { ListPage } from '../../../src/core/pages/read-pages.ts';
import { type TimedFeed, type WalkOptions, walkPages } from '../../../src/core/pages/walk.ts';
import { virtualClock } from '../virtual-clock.ts';

interface Post {
  readonly id: string;
  readonly time: number | null;
}

/** Posts `n-1` to `0`, one second apart; pages hold at most `cap` rows, and all of them cost at most `maxCu`. */
function feedOf(count: number, { cap = 100, gone = [] as string[], maxCu = Number.POSITIVE_INFINITY } = {}) {
  const posts: Post[] = Array.from({ length: count }, (_, index) => count - 1 - index).map((time) => ({
    id: `p${time}`,
    time: time * 1000,
  }));
  const asked: { before: string | undefined; rows: number | undefined }[] = [];
  const feed: TimedFeed<Post> = {
    async page(before, rows) {
      asked.push({ before, rows });
      const at = before === undefined ? 0 : posts.findIndex(({ id }) => id === before) + 1;
      if (before !== undefined && (at === 0 || gone.includes(before))) {
        throw new Failure('usage', 'unknown cursor', { code: 'VALIDATION_ERROR', status: 400 });
      }
      const items = posts.slice(at, at + Math.min(rows ?? 25, cap));
      const hasMore = at + items.length < posts.length;
      return { items, hasMore, nextBefore: hasMore ? (items.at(-1)?.id ?? null) : null };
    },
    idOf: ({ id }) => id,
    timeOf: ({ time }) => time,
    affords: (rows) => 200 * (blocksOf(asked) + rows / 20) <= maxCu,
  };
  return { feed, asked, posts };
}

const collect = async <T>(items: AsyncIterable<T>) => {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
};
const walk = (feed: TimedFeed<Post>, options: Partial<WalkOptions> = {}) =>
  walkPages(feed, { clock: virtualClock(), ...options });
const ids = async (feed: TimedFeed<Post>, options?: Partial<WalkOptions>) =>
  (await collect(walk(feed, options))).map(({ id }) => id);
const blocksOf = (asked: readonly { rows: number | undefined }[]) =>
  asked.reduce((sum, { rows }) => sum + Math.ceil((rows ?? 20) / 20), 0);

describe('a walk', () => {
  it.each([5, 20, 21, 60, 99, 500, 1000])('of %i rows pays for no unnecessary block', async (limit) => {
    const { feed, asked } = feedOf(2000);
    expect((await ids(feed, { limit })).length).toBe(limit);
    expect(blocksOf(asked)).toBe(Math.ceil(limit / 20));
  });

  it('requests single blocks if the service returns no more, after one larger page', async () => {
    const { feed, asked } = feedOf(1000, { cap: 20 });
    expect((await ids(feed, { limit: 600 })).length).toBe(600);
    expect(asked.map(({ rows }) => rows).filter((rows) => rows !== 20)).toEqual([40]);
    expect(blocksOf(asked)).toBe(31);
  });

  it('ends at --since without paying for many older rows', async () => {
    const { feed, asked, posts } = feedOf(5000);
    expect(await ids(feed, { since: 4_990_000 })).toEqual(posts.slice(0, 10).map(({ id }) => id));
    expect(asked.length).toBe(1);
    const long = feedOf(5000);
    expect((await ids(long.feed, { since: 4_000_000 })).length).toBe(1000);
    expect(blocksOf(long.asked)).toBeLessThanOrEqual(52);
  });

  it('fails if the times are in seconds, instead of ending at --since at once', async () => {
    const { feed } = feedOf(600);
    const seconds = { ...feed, timeOf: ({ time }: Post) => 1_795_000_000 + (time ?? 0) / 1000 };
    await expect(ids(seconds, { since: 1_795_000_000_000 })).rejects.toMatchObject({ code: 'NO_TIMES' });
  });

  it('treats a row without a time like the rows next to it', async () => {
    const { feed } = feedOf(100);
    const undated = { ...feed, timeOf: ({ id, time }: Post) => (/[17]$/.test(id) ? null : time) };
    expect(await ids(undated, { until: 92_000, since: 86_000 })).toEqual(['p90', 'p89', 'p88', 'p87', 'p86']);
  });

  it('fails if no nearby row is a valid cursor', async () => {
    const { feed } = feedOf(60, { gone: ['p40', 'p41', 'p42', 'p43'] });
    await expect(ids(feed)).rejects.toMatchObject({ code: 'CURSOR_LOST', status: 400 });
  });

  it('does not pay for pages that are not consumed', async () => {
    const { feed, asked } = feedOf(100);
    let taken = 0;
    for await (const _ of walk(feed)) if (++taken === 20) break;
    expect(asked.length).toBe(1);
  });

  it('makes the last page as small as the spending limit requires', async () => {
    for (const blocks of [1, 2, 3, 4, 7, 8, 11, 14]) {
      const { feed, asked } = feedOf(2000, { maxCu: 200 * blocks });
      for await (const _ of walk(feed)) if (blocksOf(asked) >= blocks) break;
      expect(blocksOf(asked)).toBe(blocks);
    }
  });

  it.each([
    ['limit', 'BUDGET'],
    ['quota', 'QUOTA_EXCEEDED'],
  ] as const)('requests single blocks when a large page fails with %s %s', async (kind, code) => {
    const { feed, asked } = feedOf(2000);
    let left = 12;
    const page: typeof feed.page = async (before, rows = 20) => {
      if (rows / 20 > left) throw new Failure(kind, 'used up', { code, status: 402 });
      left -= rows / 20;
      return await feed.page(before, rows);
    };
    await expect(ids({ ...feed, page })).rejects.toMatchObject({ code });
    expect(blocksOf(asked)).toBe(12);
  });

  const page = (items: Post[], hasMore: boolean, nextBefore: string | null): ListPage<Post> => ({
    items,
    hasMore,
    nextBefore,
  });
  const post = (id: string): Post => ({ id, time: null });
  const scripted = (pages: ListPage<Post>[]) => {
    const cursors: (string | undefined)[] = [];
    const feed: TimedFeed<Post> = {
      page: async (before) => {
        cursors.push(before);
        return pages[Math.min(cursors.length, pages.length) - 1] ?? page([], false, null);
      },
      idOf: ({ id }) => id || undefined,
      timeOf: ({ time }) => time,
    };
    return { feed, cursors };
  };
  const first = page([post('a'), post('b')], true, 'b');

  it.each<[string, ListPage<Post>[], string[], number]>([
    ['empty', [first, page([], true, 'x')], ['a', 'b'], 4],
    ['empty from the start', [page([], true, 'x')], [], 3],
    ['repeated', [first], ['a', 'b'], 4],
    ['without ids and cursors', [page([post(''), post('')], true, null)], ['', ''], 3],
  ])('fails after three pages that are %s', async (_, pages, before, calls) => {
    const out: string[] = [];
    const { feed, cursors } = scripted(pages);
    const run = (async () => {
      for await (const { id } of walk(feed)) out.push(id);
    })();
    await expect(run).rejects.toMatchObject({ code: 'WALK_STUCK' });
    expect([out, cursors.length]).toEqual([before, calls]);
  });

  it('uses its own rows as cursors if a cursor is missing or repeated', async () => {
    const { feed, cursors } = scripted([
      page([post('a')], true, null),
      page([post('b')], true, 'a'),
      page([post('a'), post('c')], true, 'a'),
      page([post('d')], false, null),
    ]);
    expect(await ids(feed)).toEqual(['a', 'b', 'c', 'd']);
    expect(cursors).toEqual([undefined, 'a', 'b', 'c']);
  });

  it('ends at --since only at the third row in a row that is older', async () => {
    const { feed, posts } = feedOf(100);
    const wrong = (names: string[], time: number | null) => ({
      ...feed,
      timeOf: (row: Post) => (names.includes(row.id) ? time : row.time),
    });
    const wanted = (...without: string[]) =>
      posts.slice(0, 80).flatMap(({ id }) => (without.includes(id) ? [] : [id]));
    // The last rows of pages of 20: a walk that ended at one old row, or at the end of its page, would end there.
    expect(await ids(wrong(['p80'], 1), { since: 20_000 })).toEqual(wanted('p80'));
    expect(await ids(wrong(['p80', 'p81'], 1), { since: 20_000 })).toEqual(wanted('p80', 'p81'));
    const held = { ...wrong(['p80', 'p82'], 1) };
    const untimed = {
      ...held,
      timeOf: (row: Post) => (/p(81|79|78)$/.test(row.id) ? null : held.timeOf(row)),
    };
    expect(await ids(untimed, { since: 20_000 })).toEqual(wanted('p80', 'p82'));
    expect(await ids(wrong(['p80', 'p81', 'p82'], 1), { since: 20_000 })).toEqual(
      posts.slice(0, 17).map(({ id }) => id),
    );
    const future = virtualClock().now() + 2 * 86_400_000;
    expect(await ids(wrong(['p80'], future), { since: 20_000, until: 95_000 })).toEqual(wanted().slice(5));
  });
});
