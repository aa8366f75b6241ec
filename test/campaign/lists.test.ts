import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { argv, openHome, runInProcess, wordsOf } from '../e2e/harness.ts';
import { type Call, type Reply, withService } from '../e2e/service.ts';
import { repeats, seedsOf } from '../repeats.ts';
import { type Rng, rngOf } from '../sim/rng.ts';

// Lists of a service that stops a list early, rejects cursors, is down, or is answered for by a proxy. A list, with all
// the commands that it prints to continue, has every row once, and ends as complete only then. Takes a few seconds by
// default; CAMPAIGN_RUNS=5000 runs longer, SEED=n repeats one run.
const RUNS = repeats('CAMPAIGN_RUNS', 3, 1_000);
const MINUTE = 60_000;

interface Feed {
  readonly path: string;
  readonly words: readonly string[];
  readonly timeField: string;
  readonly most: number;
  readonly price: (rows: number) => number;
  /** How many of the authors are asked for; the list has the posts of all if undefined. */
  readonly authors?: number;
}

const idOf = (author: number) => `00000000-0000-4000-8000-${String(author).padStart(12, '0')}`;
/** A list of this many authors; one more author posts too. */
const severalOf = (authors: number): Feed => ({
  ...theses,
  words: argv`thesis list ${Array.from({ length: authors }, (_, at) => `--user=${idOf(at)}`)}`,
  authors,
});

const theses: Omit<Feed, 'words'> = {
  path: '/v2/thesis',
  timeField: 'platformCreatedAt',
  most: 100,
  price: (rows) => 200 * Math.ceil(rows / 20),
};
const feeds: readonly Feed[] = [
  { ...theses, words: ['thesis', 'list'] },
  { ...theses, words: ['api', '/v2/thesis', '--paginate'] },
  severalOf(2),
  severalOf(6),
  severalOf(12),
  {
    path: '/v2/launchpad/thesis',
    words: ['launchpad', 'callouts'],
    timeField: 'createdAt',
    most: 25,
    price: () => 10,
  },
];

/** What a page is in place of the requested one. */
const foreign = [302, 304, 400, 401, 402, 403, 404, 407, 410, 413, 421, 499, 501, 502, 505];
/** Faults that cost nothing and do not hide the cost, so that a run can still use its whole limit. */
const free = ['empty', 'ended', 'repeated', 'failed', 'deleted'] as const;
const faults = [...free, 'foreign', 'portal', 'reset'] as const;

interface Post {
  readonly id: string;
  readonly at: number;
}

async function hostileList(dice: Rng, feed: Feed, count: number, now: number) {
  const rate = dice.pick([0, 0.1, 0.3, 0.6]);
  const kinds = dice.chance(0.5) ? free : faults;
  // A service may return fewer rows than requested.
  const most = dice.pick([feed.most, feed.most, 20, 7, 3]);
  const posts: Post[] = Array.from({ length: count }, (_, index) => ({
    id: `p${index}`,
    at: now - index * MINUTE,
  }));
  const isOdd = dice.chance(0.5);
  /** Posts with a wrong time; a list must not end at one of them, or at two in a row. */
  const odd = new Set(
    posts.filter((_, index) => isOdd && index % 5 < 2 && dice.chance(0.3)).map(({ id }) => id),
  );
  const deleted = new Set<string>();
  const served = new Set<string>();
  let spent = 0;
  /** What each path has answered in this run. */
  let read = new Map<string, { start: string | null; answered: number; stops: number }>();
  let rejected = 0;

  const authorOf = ({ id }: Post) => idOf(Number(id.slice(1)) % ((feed.authors ?? 0) + 1));
  const isWanted = (post: Post) =>
    feed.authors === undefined || authorOf(post) !== idOf(feed.authors);
  const record = ({ id, at }: Post) => ({
    id,
    thesis: id,
    authorId: authorOf({ id, at }),
    authorHandle: 'mira',
    wallet: 'w',
    coinMint: 'c',
    [feed.timeField]: odd.has(id) ? now - 10_000 * MINUTE : at,
  });
  const behind = (before: string | null, author: string | undefined) =>
    posts
      .slice(before === null ? 0 : posts.findIndex(({ id }) => id === before) + 1)
      .filter((post) => author === undefined || authorOf(post) === author);

  const service = await withService(({ path, response }: Call): Reply | undefined => {
    const url = new URL(path, 'http://service');
    const before = url.searchParams.get('before');
    const rows = Number(url.searchParams.get('limit') ?? 20);
    const cost = feed.price(rows);
    const [, author] = /\/user\/(.*)$/.exec(url.pathname) ?? [];
    const state = read.get(url.pathname) ?? { start: before, answered: 0, stops: 0 };
    read.set(url.pathname, state);
    const isFirst = state.answered === 0;
    if (isFirst) state.start = before;
    // The end of the list is believed if no other answer shows that there are rows, or if it is repeated.
    const isShown = isFirst || state.stops > 0;
    const fault = dice.chance(rate) ? dice.pick(kinds) : undefined;
    const all = behind(before, author);
    const items = all.slice(0, Math.min(rows, most));
    const hasMore = items.length < all.length;
    const page = (some: readonly Post[], more: boolean): Reply => {
      spent += cost;
      state.answered++;
      state.stops = some === items ? 0 : state.stops + 1;
      const nextBefore = more ? (items.at(-1)?.id ?? null) : null;
      return { body: { count: some.length, hasMore: more, nextBefore, items: some.map(record) } };
    };
    switch (fault) {
      case 'empty':
        return page([], hasMore || isShown);
      case 'ended':
        return page([], isShown);
      case 'repeated': {
        const above = behind(state.start, author)
          .slice(0, -all.length || undefined)
          .slice(-most);
        return page(isFirst ? [] : above, hasMore || isShown);
      }
      case 'foreign':
        return { status: dice.pick(foreign), body: '<html>not the service</html>' };
      case 'portal':
        spent += cost;
        return { body: '<html>log in</html>' };
      case 'failed':
        return { status: 500, body: { error: { code: 'INTERNAL_ERROR', message: 'failed' } } };
      case 'reset':
        response.destroy();
        return undefined;
      case 'deleted': {
        // A cursor that the user gives is not replaced. Without the rows between them, odd rows would end the list.
        const last = posts.findIndex(({ id }) => id === before);
        if (last >= 0 && !isFirst && odd.size === 0)
          deleted.add(posts.splice(last, 1)[0]?.id ?? '');
      }
    }
    if (before !== null && !behind(null, author).some(({ id }) => id === before)) {
      rejected++;
      return {
        status: 400,
        body: { error: { code: 'VALIDATION_ERROR', message: 'unknown before' } },
      };
    }
    rejected = 0;
    for (const post of items) if (isWanted(post)) served.add(post.id);
    return page(items, hasMore);
  });
  return {
    ...{ service, posts, isWanted, odd, deleted, served, most },
    /** Tells the service that a new run starts. */
    begin() {
      read = new Map();
      served.clear();
    },
    get spent() {
      return spent;
    },
    /** Whether all costs show in the answers. */
    isOpen: kinds === free || rate === 0,
    /** How many cursors were rejected in a row. */
    get rejected() {
      return rejected;
    },
  };
}

const idsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .flatMap((value) => (Array.isArray(value.items) ? value.items : [value]))
    .flatMap(({ id }: { id?: string }) => (id === undefined ? [] : [id]));

test.each(seedsOf(RUNS))(
  'a list and its continuations have every row once (SEED=%i)',
  async (seed) => {
    const dice = rngOf(seed);
    const clock = virtualClock();
    const feed = dice.pick(feeds);
    const count = dice.pick([0, 1, 20, 21, 90, 250, 250]);
    const list = await hostileList(dice, feed, count, clock.now());
    const isRaw = feed.words[0] === 'api';
    const since =
      isRaw || dice.chance(0.5) ? undefined : clock.now() - (dice.int(count + 20) + 0.5) * MINUTE;
    const limit = isRaw || dice.chance(0.7) ? undefined : 1 + dice.int(120);
    const maxCu = dice.chance(0.4) ? undefined : feed.price(20) * (1 + dice.int(12));
    const flag = (name: string, value: number | undefined) =>
      value === undefined ? [] : [name, String(value)];
    let words: readonly string[] = [
      ...feed.words,
      '--quiet',
      ...(isRaw ? [] : ['-o', 'ndjson']),
      ...flag('--since', since),
      ...(limit === undefined
        ? isRaw || since !== undefined
          ? []
          : ['--all']
        : flag('--limit', limit)),
      ...flag('--max-cu', maxCu),
    ];
    const story: string[] = [words.join(' ')];
    const printed: string[] = [];
    const home = openHome();
    let exit = -1;
    for (let runs = 0; exit !== 0; runs++) {
      expect(runs, story.join('\n')).toBeLessThan(300);
      const before = list.spent;
      list.begin();
      const ran = await runInProcess(words, { sandbox: list.service, home, clock, differs: true });
      exit = ran.exitCode;
      const ids = idsIn(ran.stdout);
      // A raw page that another cursor was needed for repeats rows.
      printed.push(...(isRaw ? new Set(ids) : ids));
      story.push(`exit ${exit}, ${ids.length} rows: ${ran.stderr}`);
      const cost = list.spent - before;
      if (maxCu !== undefined) expect(cost, story.join('\n')).toBeLessThanOrEqual(maxCu);
      // Every row that was paid for is printed, except those beyond the limit and the range of times.
      const lost = [...list.served].filter((id) => !ids.includes(id));
      if (since === undefined && limit === undefined) expect(lost, story.join('\n')).toEqual([]);
      if (exit === 0) break;
      const { code, hint } = ran.error();
      if (code === 'CEILING' && list.isOpen && maxCu !== undefined) {
        expect(maxCu - cost, `unspent: ${story.join('\n')}`).toBeLessThan(feed.price(20));
      }
      // The post of a cursor was deleted: only the user can choose where to continue.
      if (code === 'CURSOR_LOST')
        expect(list.rejected).toBeGreaterThanOrEqual(Math.min(4, list.most));
      if (code === 'CURSOR_LOST' || code === 'VALIDATION_ERROR') return;
      // Without a page, nothing is to be continued: the same command is run again.
      const [, next] = /continue with: trdr (.*)$/.exec(String(hint)) ?? [];
      if (feed.authors === undefined || next === undefined)
        expect(next === undefined, story.join('\n')).toBe(ids.length === 0 && !list.served.size);
      words = next === undefined ? words : wordsOf(next);
    }
    const inRange = list.posts
      .filter(list.isWanted)
      .filter(({ id, at }) => since === undefined || (at >= since && !list.odd.has(id)));
    const expected = inRange.slice(0, limit).map(({ id }) => id);
    const found = printed.filter((id) => !list.deleted.has(id));
    // What several feeds had when a run failed comes before what the next run reads of each of them.
    if (feed.authors !== undefined) {
      // Where a post with a wrong time belongs among those of others is not known.
      if (limit === undefined || list.odd.size + list.deleted.size === 0)
        expect(found, story.join('\n')).toEqual(
          expect.arrayContaining(expected.filter((id) => !list.deleted.has(id))),
        );
      if (limit === undefined) expect(found).toHaveLength(expected.length);
    } else if (limit === undefined) expect(found, story.join('\n')).toEqual(expected);
    else expect(found, story.join('\n')).toEqual(expected.slice(0, found.length));
    expect(new Set(printed).size, story.join('\n')).toBe(printed.length);
    if (limit !== undefined)
      expect(printed.length, story.join('\n')).toBeGreaterThanOrEqual(
        expected.length - list.deleted.size,
      );
  },
);
