import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { postTimeOf } from '../../../src/contract/read-record.ts';
import { gatherPosts } from '../../../src/core/pages/gather.ts';
import type { PageRow } from '../../../src/core/pages/post.ts';
import type { AskedPage, FeedPage, PageSource } from '../../../src/core/pages/source.ts';
import { type WalkOptions, walkPages } from '../../../src/core/pages/walk.ts';
import { collect } from '../fakes.ts';
import { virtualClock } from '../virtual-clock.ts';

interface Post {
  readonly id: string;
  readonly time: number | null;
}

const rowOf = ({ id, time }: Post): PageRow => ({ id, at: time, record: {}, raw: null });

/** Changes the times of the rows of a feed. */
const timed = (feed: PageSource, timeOf: (row: PageRow) => number | null): PageSource => ({
  ...feed,
  async page(ask, signal) {
    const page = await feed.page(ask, signal);
    return { ...page, rows: page.rows.map((row) => ({ ...row, at: timeOf(row) })) };
  },
});

/** Posts `n-1` to `0`, one second apart; pages hold at most `cap` rows. */
function feedOf(count: number, cap = 100) {
  const posts = Array.from({ length: count }, (_, index): Post => {
    const time = count - 1 - index;
    return { id: `p${time}`, time: time * 1000 };
  });
  const asked: AskedPage[] = [];
  const feed: PageSource = {
    async page(ask) {
      asked.push(ask);
      const { before, limit } = ask;
      const from = before === undefined ? 0 : posts.findIndex(({ id }) => id === before) + 1;
      const rows = posts.slice(from, from + Math.min(limit, cap)).map(rowOf);
      const hasMore = from + rows.length < posts.length;
      return { rows, hasMore, nextBefore: hasMore ? (rows.at(-1)?.id ?? null) : null };
    },
    sizes: { step: 20, max: 100 },
    stepCu: 200,
  };
  return { feed, asked, posts };
}

const { signal } = new AbortController();
const walk = (feed: PageSource, options: Partial<WalkOptions> = {}) =>
  walkPages(feed, { clock: virtualClock(), signal, ...options });
const ids = async (feed: PageSource, options?: Partial<WalkOptions>) =>
  (await collect(walk(feed, options))).map(({ id }) => id);
const blocksOf = (asked: readonly AskedPage[]) =>
  asked.reduce((sum, { limit }) => sum + Math.ceil(limit / 20), 0);

describe('a walk', () => {
  it.each([5, 20, 21, 60, 99, 500, 1000])(
    'of %i rows pays for no unnecessary block',
    async (limit) => {
      const { feed, asked } = feedOf(2000);
      expect((await ids(feed, { limit })).length).toBe(limit);
      expect(blocksOf(asked)).toBe(Math.ceil(limit / 20));
    },
  );

  it('requests single blocks if the service returns no more, after one larger page', async () => {
    const { feed, asked } = feedOf(1000, 20);
    expect((await ids(feed, { limit: 600 })).length).toBe(600);
    expect(asked.map(({ limit }) => limit).filter((limit) => limit !== 20)).toEqual([40]);
    expect(blocksOf(asked)).toBe(31);
  });

  it('requests one block if it repeats a request for a page', async () => {
    const { feed, asked } = feedOf(500);
    const page: PageSource['page'] = async (ask) => {
      const answer = await feed.page(ask, signal);
      return asked.length === 3 ? { ...answer, rows: [] } : answer;
    };
    expect((await ids({ ...feed, page }, { limit: 300 })).length).toBe(300);
    expect(asked.map(({ limit }) => limit)).toEqual([20, 40, 100, 20, 100, 100, 20]);
  });

  it('ends at --since without paying for many older rows', async () => {
    const { feed, asked, posts } = feedOf(5000);
    expect(await ids(feed, { since: 4_990_000 })).toEqual(posts.slice(0, 10).map(({ id }) => id));
    expect(asked.length).toBe(1);
    const long = feedOf(5000);
    expect((await ids(long.feed, { since: 4_000_000 })).length).toBe(1000);
    expect(blocksOf(long.asked)).toBeLessThanOrEqual(52);
  });

  it.each([
    ['seconds', 1],
    ['microseconds', 1e6],
    ['nanoseconds', 1e9],
  ])('fails if the times are in %s, instead of reading to a wrong place', async (_, perSecond) => {
    const { feed, asked } = feedOf(6000);
    const other = timed(feed, ({ at }) =>
      postTimeOf((1_795_000_000 + (at ?? 0) / 1000) * perSecond),
    );
    const clock = { ...virtualClock(), now: () => 1_795_006_000_000 };
    await expect(ids(other, { since: 1_795_000_000_000, clock })).rejects.toMatchObject({
      code: 'NO_TIMES',
    });
    expect(blocksOf(asked)).toBeLessThanOrEqual(3);
  });

  it.each([
    ['--since', { since: 1 }],
    ['--until', { until: 2e12 }],
  ])(
    'fails if all posts are dated far ahead, instead of reading on for %s',
    async (flag, range) => {
      const { feed, asked } = feedOf(6000);
      const ahead = timed(feed, ({ at }) => 1.9e12 + (at ?? 0));
      await expect(ids(ahead, range)).rejects.toMatchObject({
        code: 'NO_TIMES',
        message: expect.stringContaining(flag),
      });
      expect(asked.length).toBe(3);
    },
  );

  it.each<[string, number, object, boolean]>([
    ['ends', 5, { since: 1 }, true],
    ['ends after two pages', 40, { since: 1 }, true],
    ['ends', 5, { until: 2e12 }, true],
    ['reaches its limit', 100, { since: 1, limit: 3 }, true],
    ['has no range', 5, {}, false],
    ['is empty', 0, { since: 1 }, false],
  ])('fails if no post of a range has a time: a list that %s (%i posts, %j)', async (...given) => {
    const [, count, options, fails] = given;
    const untimed = timed(feedOf(count, 20).feed, () => null);
    const gathered = await gatherPosts(
      untimed,
      { clock: virtualClock(), signal, ...options },
      ({ id }) => id,
    );
    expect(gathered.complete).toBe(!fails);
    const error = await ids(untimed, options).catch((reason: unknown) => reason);
    for (const failed of [error, gathered.failure?.error])
      expect(failed instanceof Failure && failed.code).toBe(fails && 'NO_TIMES');
    // A single time shows where all others belong.
    const one = timed(feedOf(count, 20).feed, ({ id }) => (id === 'p0' ? 1 : null));
    if (!('limit' in options)) expect(await ids(one, options)).toBeInstanceOf(Array);
  });

  it('gives a page that is dated far ahead the times of the page below it', async () => {
    const { feed, asked, posts } = feedOf(100, 20);
    const ahead = timed(feed, ({ at }) => (at === null ? null : at + (at >= 80_000 ? 1.9e12 : 0)));
    expect(await ids(ahead, { since: 70_000 })).toEqual(posts.slice(0, 30).map(({ id }) => id));
    expect(await ids(ahead, { since: 70_000, until: 75_000 })).toEqual(
      posts.slice(25, 30).map(({ id }) => id),
    );
    expect(asked.length).toBe(4);
  });

  it('treats a row without a time like the rows next to it', async () => {
    const { feed } = feedOf(100);
    const undated = timed(feed, ({ id, at }) => (/[17]$/.test(id ?? '') ? null : at));
    const found = await ids(undated, { until: 92_000, since: 86_000 });
    expect(found.join(' ')).toBe('p90 p89 p88 p87 p86');
  });

  it.each([
    ['limit', 'BUDGET'],
    ['quota', 'QUOTA_EXCEEDED'],
  ] as const)('requests single blocks when a large page fails with %s %s', async (kind, code) => {
    const { feed, asked } = feedOf(2000);
    let left = 12;
    const page: PageSource['page'] = async (ask) => {
      const blocks = ask.limit / 20;
      if (blocks > left) throw new Failure(kind, 'used up', { code, status: 402 });
      left -= blocks;
      return await feed.page(ask, signal);
    };
    await expect(ids({ ...feed, page })).rejects.toMatchObject({ code });
    expect(blocksOf(asked)).toBe(12);
  });

  it.each([
    ['empty', () => []],
    ['repeated', (posts: Post[]) => posts.slice(0, 20)],
  ])('fails after three pages that are %s', async (_, rowsOf) => {
    const { feed, asked, posts } = feedOf(100);
    const page = async (ask: AskedPage): Promise<FeedPage> => {
      const read = await feed.page(ask, signal);
      return ask.before === undefined ? read : { ...read, rows: rowsOf(posts).map(rowOf) };
    };
    await expect(ids({ ...feed, page })).rejects.toMatchObject({ code: 'WALK_STUCK' });
    expect(asked.length).toBe(4);
  });

  it('ignores rows without a usable time when it ends at --since', async () => {
    const { feed, posts } = feedOf(100);
    const wanted = posts.slice(0, 80).map(({ id }) => id);
    const old = ({ id, at }: PageRow) => (id === 'p80' || id === 'p82' ? 1 : at);
    const untimed = timed(feed, (row) => (/p(81|79|78)$/.test(row.id ?? '') ? null : old(row)));
    const dated = wanted.filter((id) => !/p8[02]/.test(id));
    expect(await ids(untimed, { since: 20_000 })).toEqual(dated);
    const day = virtualClock().now() + 2 * 86_400_000;
    const future = timed(feed, ({ id, at }) => (id === 'p80' ? day : at));
    expect(await ids(future, { since: 20_000, until: 95_000 })).toEqual(wanted.slice(5));
  });
});
