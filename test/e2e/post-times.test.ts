import { expect, test } from 'vitest';
import { endpoints } from '../../src/contract/endpoints.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { localTime } from '../local-time.ts';
import { some } from '../repeats.ts';
import { openHome } from './harness.ts';
import { anyMe, type Call, withService } from './service.ts';

localTime('Asia/Kolkata');

const MINUTE = 60_000;
const POSTS = 200;
const authors = ['7d0a0f3e-7a55-4c0e-9a36-000000000001', '7d0a0f3e-7a55-4c0e-9a36-000000000002'];

/** How a service may write post times and ids. */
const spellings: Readonly<Record<string, (at: number, index: number) => object>> = {
  numbers: (at) => ({ platformCreatedAt: at, createdAt: at }),
  'ISO texts': (at) => {
    const time = new Date(at).toISOString();
    return { platformCreatedAt: time, createdAt: time };
  },
  'texts of digits': (at) => ({ platformCreatedAt: `${at}`, createdAt: `${at}` }),
  // In another zone than UTC, these were other times.
  'ISO texts without an offset': (at) => {
    const time = new Date(at).toISOString().replace('Z', '').replace('T', ' ');
    return { platformCreatedAt: time, createdAt: time };
  },
  'numbers, with numbers as ids': (at, index) => ({
    platformCreatedAt: at,
    createdAt: at,
    id: index + 1,
  }),
  'ISO texts, with times far ahead': (at, index) => {
    const time = new Date(index === 7 || index === 22 ? at + 3e9 : at).toISOString();
    return { platformCreatedAt: time, createdAt: time };
  },
};

const lines = [
  'thesis list --since 30m',
  `thesis list --user ${authors[0]} --user ${authors[1]} --since 30m`,
  'thesis list --until 20m --limit 25',
  'thesis list --since 30m --count-by day --utc',
  'thesis tail --no-follow --since 30m',
  'launchpad callouts --since 30m',
  'launchpad tail --no-follow --since 30m',
  'thesis refresh recorded.ndjson',
  `thesis tail --no-follow --user ${authors[0]} --user ${authors[1]} --since 30m`,
  'thesis list --from all.ndjson --since 30m',
  'thesis list --from all.ndjson --until 20m --limit 25',
  'thesis tail --replay all.ndjson --since 30m --speed 60',
];

/** Runs a line against a feed with such times; returns what was printed, and the calls. */
async function runWith(spelling: keyof typeof spellings, line: string) {
  const clock = virtualClock();
  const now = clock.now();
  const posts = Array.from({ length: POSTS }, (_, index) => ({
    id: `${index + 1}`,
    authorId: authors[index % 2],
    wallet: 'w',
    thesis: `post ${index}`,
    ...spellings[spelling]?.(now - index * MINUTE - 1, index),
  }));
  const headers = { date: new Date(now).toUTCString() };
  const reply = ({ path }: Pick<Call, 'path'>) => {
    if (path === endpoints.me.path) return { body: anyMe, headers };
    const url = new URL(path, 'http://service');
    const before = url.searchParams.get('before');
    const [, author] = /\/user\/(.*)$/.exec(url.pathname) ?? [];
    const all = posts.filter(({ authorId }) => author === undefined || authorId === author);
    const from = all.findIndex(({ id }) => `${id}` === before) + 1;
    const items = all.slice(from, from + 20);
    const hasMore = from + 20 < all.length;
    const nextBefore = hasMore ? (items.at(-1)?.id ?? null) : null;
    return { body: { count: items.length, hasMore, nextBefore, items }, headers };
  };
  const service = await withService(reply, { ownMe: true });
  const home = openHome();
  const recorded = [...posts.slice(0, 5), { ...posts[5], id: 'deleted' }];
  home.write('recorded.ndjson', recorded);
  home.write('all.ndjson', posts);
  const options = { sandbox: service, clock, differs: true };
  const ran = await home.run([...line.split(' '), '-o', 'ndjson'], options);
  const rows = ran.records().map(({ id, day, posts: count, gone }) => ({
    ...(id === undefined ? { day, count } : { id: String(id) }),
    gone,
  }));
  // Among the posts of several feeds, the place of one without a time is not known.
  rows.sort((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)));
  const waited = line.includes('--speed') ? clock.now() - now : undefined;
  const isTold = ran.stderr.includes('the times of 2 posts are more than a day ahead of the clock');
  return { rows, waited, exit: ran.exitCode, calls: service.calls.toSorted(), isTold };
}

test.each(some(lines, 6))(
  'neither rows nor calls depend on how times are written: %s',
  async (line) => {
    const expected = await runWith('numbers', line);
    expect(expected.exit).toBe(0);
    expect(expected.rows.length).toBeGreaterThan(0);
    // An old post is not among the rows, and the pages end soon below the range.
    expect(expected.rows.length).toBeLessThan(POSTS / 4);
    expect(expected.calls.length).toBeLessThan(POSTS / 20);
    for (const spelling of Object.keys(spellings)) {
      const isCount = line.includes('--count-by') && spelling.includes('far ahead');
      // Files may be from another clock: a run of theirs says which times it does not use.
      const isTold = line.includes('all.ndjson') && spelling.includes('far ahead');
      if (!isCount)
        expect(await runWith(spelling, line), spelling).toEqual({ ...expected, isTold });
    }
  },
);

test.each([
  'thesis list --since 30m',
  'thesis list --until 30m --sort likeCount',
  'author --since 30m',
  'author --until 30m',
  'token T --since 30m',
  'token T --until 30m',
])('a range of recorded posts without any time is refused: %s', async (line) => {
  const home = openHome();
  const posts = [1, 2, 3].map((id) => ({ id: `${id}`, authorId: authors[0], tokenAddress: 'T' }));
  home.write('all.ndjson', posts);
  const options = { key: null, clock: virtualClock(), differs: true };
  const ran = await home.run([...line.split(' '), '--from', 'all.ndjson'], options);
  expect([ran.exitCode, ran.error()['code']]).toEqual([9, 'NO_TIMES']);
});

test.each([
  ['--since 3h', 1_000],
  ['--until 1ms', 999],
  ['--since 40s --until 10s', 909],
])('many recorded posts without a time belong to those around them: %s', async (range, count) => {
  const home = openHome();
  const clock = virtualClock();
  const now = clock.now();
  const posts = Array.from({ length: 1_000 }, (_, at) => ({
    id: `${at}`,
    authorId: authors[0],
    tokenAddress: 'T',
    platformCreatedAt: at < 20 || at >= 920 ? now - at * 1_000 : null,
  }));
  home.write('all.ndjson', posts);
  const options = { key: null, clock, differs: true };
  const ran = await home.run(
    ['thesis', 'list', '--from', 'all.ndjson', ...range.split(' '), '--all'],
    options,
  );
  expect([ran.exitCode, ran.records().length], ran.stderr).toEqual([0, count]);
});
