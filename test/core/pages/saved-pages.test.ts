import { expect, test } from 'vitest';
import type { AnswerCache, CachedAnswer } from '../../../src/contract/ports/answers.ts';
import { type PageRow, pageRow } from '../../../src/core/pages/post.ts';
import { SavedPages } from '../../../src/core/pages/saved-pages.ts';
import type { AskedPage, FeedPage } from '../../../src/core/pages/source.ts';
import { virtualClock } from '../virtual-clock.ts';

const call = { id: 'thesis.user', ask: { params: { id: 'u' } } } as const;
/** Posts are kept as they are. */
const whole = { call, keep: (row: PageRow) => row };
const posts = Array.from({ length: 5 }, (_, at) => ({ id: `p${at}` }));
const rowsOf = (records: readonly { readonly id: string }[]) =>
  records.map((record) => pageRow(record, 'platformCreatedAt'));
const { signal } = new AbortController();

/** A feed of pages of two posts, of which the requests with these numbers are answered badly. */
function feedWith(bad: Readonly<Record<number, object>>) {
  const asked: unknown[] = [];
  return {
    asked,
    feed: {
      ...whole,
      source: {
        sizes: { step: 2, max: 2 },
        stepCu: 0,
        async page({ before }: AskedPage) {
          asked.push(before);
          const from = before === undefined ? 0 : posts.findIndex(({ id }) => id === before) + 1;
          const rows = rowsOf(posts.slice(from, from + 2));
          const hasMore = from + 2 < posts.length;
          const page = { rows, hasMore, nextBefore: hasMore ? (rows.at(-1)?.id ?? null) : null };
          return { ...page, ...bad[asked.length] };
        },
      },
    },
  };
}

const cacheOf = (answers: Map<string, CachedAnswer>): AnswerCache => ({
  get: (_, subjects) => subjects.map((subject) => answers.get(subject)),
  async put(_, saved) {
    for (const [subject, answer] of saved) answers.set(subject, answer);
  },
});

/** The same answers in a store, where other machines find them too. */
const storeOf = (answers: Map<string, CachedAnswer>, now: () => number): AnswerCache => ({
  ...cacheOf(answers),
  get: (_, subjects) => subjects.map(() => undefined),
  async claim({ subject, maxAgeMs }) {
    const answer = answers.get(subject);
    return answer && now() - answer.time < maxAgeMs
      ? { by: 'cache', answer }
      : { by: 'us', end: async () => {} };
  },
});

const badPages: readonly [name: string, page: FeedPage][] = [
  ['an empty page', { rows: [], hasMore: true, nextBefore: null }],
  ['a false end', { rows: [], hasMore: false, nextBefore: null }],
  ['the page before again', { rows: rowsOf(posts.slice(0, 2)), hasMore: true, nextBefore: 'p1' }],
];

test.each(badPages)('%s is requested again, and not taken from the store', async (_, page) => {
  const clock = virtualClock();
  const answers = new Map<string, CachedAnswer>();
  const read = ({ feed }: ReturnType<typeof feedWith>) =>
    new SavedPages(storeOf(answers, clock.now), clock.now).read(feed, { clock, signal });
  const first = feedWith({ 2: page });
  expect(await read(first)).toMatchObject({ posts: rowsOf(posts), complete: true, via: 'service' });
  expect(first.asked).toEqual([undefined, 'p1', 'p1', 'p3']);
  const again = feedWith({});
  expect(await read(again)).toMatchObject({ posts: rowsOf(posts), complete: true, via: 'cache' });
  expect(again.asked).toEqual([]);
});

test.each(badPages)('%s that was saved leads nowhere only once', async (_, page) => {
  const clock = virtualClock();
  const answers = new Map<string, CachedAnswer>();
  const pages = () => new SavedPages(cacheOf(answers), clock.now);
  const read = ({ feed }: ReturnType<typeof feedWith>) => pages().read(feed, { clock, signal });
  // The service answers so until the run gives up, and well after that.
  const first = await read(feedWith({ 2: page, 3: page, 4: page }));
  const isEnd = page.rows.length === 0 && !page.hasMore;
  expect(first).toMatchObject({ posts: rowsOf(posts.slice(0, 2)), complete: isEnd });
  if (isEnd) {
    // The run believed this end, so the same question has the same answer, for nothing.
    const same = feedWith({});
    expect(await read(same)).toMatchObject({ posts: first.posts, complete: true, via: 'cache' });
    const before = clock.mono();
    const planned = await pages().saved(same.feed, { clock, signal });
    expect([planned.complete, clock.mono() - before]).toEqual([true, 0]);
    expect(same.asked).toEqual([]);
    await clock.sleep(11 * 60_000);
  }
  const well = feedWith({});
  expect(await read(well)).toMatchObject({ posts: rowsOf(posts), complete: true, via: 'service' });
  expect(well.asked).toEqual(isEnd ? [undefined, 'p1', 'p3'] : ['p1', 'p3']);
  const again = feedWith({});
  expect(await read(again)).toMatchObject({ posts: rowsOf(posts), complete: true, via: 'cache' });
  expect(again.asked).toEqual([]);
});

test('the feed of an EVM address is the same in each spelling', async () => {
  const clock = virtualClock();
  const answers = new Map<string, CachedAnswer>();
  const { feed, asked } = feedWith({});
  for (const wallet of ['0xABcd', '0xabCD', '0Xabcd']) {
    const call = { id: 'launchpad.callouts.wallet', ask: { params: { wallet } } } as const;
    await new SavedPages(cacheOf(answers), clock.now).read({ ...feed, call }, { clock, signal });
  }
  expect(asked).toHaveLength(3);
});
