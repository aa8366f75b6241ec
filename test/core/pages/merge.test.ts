import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { postTimeOf } from '../../../src/contract/read-record.ts';
import { type MergedFeeds, mostOwnPages, walkSeveral } from '../../../src/core/pages/merge.ts';
import { severalStart } from '../../../src/core/pages/place.ts';
import type { PageSource } from '../../../src/core/pages/source.ts';
import type { Taken, WalkOptions } from '../../../src/core/pages/walk.ts';
import { repeats, seedsOf } from '../../repeats.ts';
import { type Rng, rngOf } from '../../sim/rng.ts';
import { virtualClock } from '../virtual-clock.ts';

const RUNS = repeats('MERGE_RUNS', 20, 20_000);
const PAGE = 20;
const START = 1.8e12;

interface Post {
  readonly id: string;
  readonly author: number;
  /** As the record has it: it may be missing or wrong. */
  readonly time: number | null;
}

/** Posts of many authors, newest first, and the pages of each author and of all. */
class Service {
  posts: readonly Post[];
  pages = 0;
  /** The page after this many fails. */
  failsAfter = Number.POSITIVE_INFINITY;
  /** The ids that were in a page of an author who belongs to the list, or of the whole feed. */
  readonly served = new Set<string>();

  constructor(dice: Rng, authors: number, count: number, isOdd: boolean) {
    let at = START;
    const isSkewed = dice.chance(0.5);
    // Three older times in a row end a feed, so no author has two odd ones in a row.
    const oddBefore = new Set<number>();
    this.posts = Array.from({ length: count }, (_, index) => {
      at -= dice.int(4) * 1_000;
      // One author posts as much as all others in some worlds, so that pages are full of their posts.
      const author = isSkewed && dice.chance(0.5) ? 0 : dice.int(authors);
      const isWrong = isOdd && index % 7 === 3 && !oddBefore.has(author);
      if (isWrong) oddBefore.add(author);
      else oddBefore.delete(author);
      const time = isWrong ? dice.pick([null, 1, at - 9e9]) : at;
      return { id: `p${index}`, author, time };
    });
  }

  /** Adds a post that is newer than all others. */
  add(author: number): void {
    const { length } = this.posts;
    this.posts = [{ id: `new${length}`, author, time: START + 1_000 * length }, ...this.posts];
  }

  /** A cursor is the id of a post of this feed. */
  #below(before: string | undefined, isOf: (post: Post) => boolean): readonly Post[] {
    const all = this.posts.filter(isOf);
    if (before === undefined) return all;
    const at = all.findIndex(({ id }) => id === before);
    if (at < 0) throw new Failure('usage', 'unknown id', { code: 'VALIDATION_ERROR', status: 400 });
    return all.slice(at + 1);
  }

  feed(isOf: (post: Post) => boolean): PageSource {
    return {
      sizes: { step: PAGE, max: 100 },
      stepCu: 200,
      page: async ({ before, limit }) => {
        if (this.pages >= this.failsAfter) throw new Failure('service', 'away', { code: 'AWAY' });
        this.pages += Math.ceil(limit / PAGE);
        const all = this.#below(before, isOf);
        const posts = all.slice(0, limit);
        for (const { id } of posts) this.served.add(id);
        const hasMore = posts.length < all.length;
        return { rows: posts.map(rowOf), hasMore, nextBefore: posts.at(-1)?.id ?? null };
      },
    };
  }
}

const rowOf = ({ id, author, time }: Post) => ({
  id,
  at: postTimeOf(time),
  record: { author },
  raw: null,
});

async function read(
  service: Service,
  wanted: readonly number[],
  options: Pick<WalkOptions, 'limit' | 'since'> & { readonly before?: string | undefined },
) {
  const ways: string[] = [];
  const feeds: MergedFeeds = {
    own: wanted.map((author) => service.feed((post) => post.author === author)),
    whole: service.feed(() => true),
    feedOf: ({ author }) => wanted.find((each) => each === author),
    start: severalStart(options.before, wanted.length, START) ?? expect.unreachable(),
    pageRows: PAGE,
    onWay: ({ kind }) => void ways.push(kind),
    watch: (some) => some,
  };
  const found: Post[] = [];
  const places: Taken[] = [];
  const filter = { onPage: (taken: Taken) => void places.push(taken) };
  const clock = { ...virtualClock(), now: () => START };
  let failed = false;
  try {
    const { signal } = new AbortController();
    const posts = new Map(service.posts.map((post) => [post.id, post]));
    for await (const { id } of walkSeveral(feeds, { ...options, clock, signal }, filter))
      found.push(posts.get(id ?? '') ?? expect.unreachable());
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    failed = true;
  }
  return { found, ways, next: places.at(-1)?.next, failed };
}

/** The worlds in which no post has a time, and in which the last rows of a page need another one. */
const rare = [1_996_587_670, 187_490_309];

test.each([...rare, ...seedsOf(RUNS)])(
  'the posts of several authors are those of the whole feed, each once, at the stated price (SEED=%i)',
  async (seed) => {
    const dice = rngOf(seed);
    const authors = 2 + dice.int(40);
    const isOdd = dice.chance(0.3);
    const service = new Service(dice, authors, dice.pick([0, 5, 60, 900]), isOdd);
    const many = 2 + dice.int(authors - 1);
    const wanted = Array.from({ length: many }, (_, at) => at);
    const all = service.posts.filter(({ author }) => wanted.includes(author));
    const limit = dice.chance(0.5) ? 1 + dice.int(80) : undefined;
    const since = dice.chance(0.5) ? START - dice.int(2_000) * 1_000 : undefined;
    const inRange = all.filter(
      ({ time }) => since === undefined || time === null || time < 1e12 || time >= since,
    );
    const { found, ways, failed } = await read(service, wanted, { limit, since });
    // A range cannot be applied to posts of which none has a time.
    const served = service.posts.filter(({ id }) => service.served.has(id));
    const isTimeless =
      served.length > 0 && served.every(({ time }) => time === null || time < 1e12);
    expect(failed).toBe(since !== undefined && isTimeless);
    if (failed) return;
    expect(new Set(found).size).toBe(found.length);
    if (!isOdd) {
      const times = (posts: readonly Post[]) => posts.map(({ time }) => time);
      expect(times(found)).toEqual(times(inRange.slice(0, limit)));
      expect(found.every(({ author }) => wanted.includes(author))).toBe(true);
    } else if (limit === undefined) {
      // Whether an odd post at the edge belongs to the range cannot be known.
      const isSure = ({ time }: Post) => time !== null && time >= (since ?? 1e12);
      expect(new Set(found.filter(isSure))).toEqual(new Set(all.filter(isSure)));
      if (since === undefined) expect(new Set(found)).toEqual(new Set(all));
    }
    if (limit !== undefined && ways.length < 2 && ways[0] !== 'whole')
      expect(service.pages).toBeLessThanOrEqual(mostOwnPages(many, limit, PAGE) + 1);
    if (limit !== undefined)
      expect(service.pages).toBeLessThanOrEqual(many + mostOwnPages(many, limit, PAGE));
  },
);

test.each(seedsOf(RUNS))(
  'a list with a limit that lacks posts because a page failed reports the failure (SEED=%i)',
  async (seed) => {
    const dice = rngOf(seed);
    const authors = 2 + dice.int(20);
    const service = new Service(dice, authors, 400, false);
    const many = 2 + dice.int(authors - 1);
    const wanted = Array.from({ length: many }, (_, at) => at);
    const all = service.posts.filter(({ author }) => wanted.includes(author));
    const limit = 1 + dice.int(30);
    service.failsAfter = dice.int(many + 2);
    const { found, failed } = await read(service, wanted, { limit });
    expect(found.length).toBeLessThanOrEqual(limit);
    const times = (posts: readonly Post[]) => posts.map(({ time }) => time);
    if (!failed) expect(times(found)).toEqual(times(all.slice(0, limit)));
  },
);

test.each(seedsOf(RUNS))(
  'a list of several authors that fails or is cut is continued without loss or repetition (SEED=%i)',
  async (seed) => {
    const dice = rngOf(seed);
    const authors = 2 + dice.int(20);
    const service = new Service(dice, authors, dice.pick([5, 60, 400]), dice.chance(0.3));
    const many = 2 + dice.int(authors - 1);
    const wanted = Array.from({ length: many }, (_, at) => at);
    const all = service.posts.filter(({ author }) => wanted.includes(author));
    const printed: Post[] = [];
    let before: string | undefined;
    for (let runs = 0; ; runs++) {
      expect(runs).toBeLessThan(600);
      service.failsAfter = service.pages + 1 + dice.int(9);
      service.served.clear();
      const limit = dice.chance(0.5) ? 1 + dice.int(100) : undefined;
      const { found, next, failed } = await read(service, wanted, { before, limit });
      printed.push(...found);
      if (limit === undefined) {
        const ids = new Set(found.map(({ id }) => id));
        const paid = all.filter(({ id }) => service.served.has(id) && !ids.has(id));
        expect(paid.filter((post) => !printed.includes(post))).toEqual([]);
      } else expect(found.length).toBeLessThanOrEqual(limit);
      if (!failed && next === undefined) break;
      before = next ?? before;
      // What is posted after the list has begun is not of it, from whichever feed it continues.
      if (before !== undefined) service.add(dice.int(authors));
    }
    expect(printed.length).toBe(new Set(printed).size);
    expect(new Set(printed)).toEqual(new Set(all));
  },
);

test('a list that leaves the whole feed within the posts of one author does not repeat them', async () => {
  const wanted = [0, 1, 2, 3, 4];
  const service = new Service(rngOf(1), 5, 0, false);
  // Half of the first 60 posts are by one author, and nobody of the list posts for long after them.
  service.posts = Array.from({ length: 400 }, (_, index) => {
    const isLate = index >= 300;
    const first = index < 60 && index % 2 === 0 ? 0 : 9;
    return { id: `p${index}`, author: isLate ? index % 5 : first, time: START - index * 1_000 };
  });
  const all = service.posts.filter(({ author }) => wanted.includes(author));
  service.failsAfter = 4 + wanted.length;
  const begun = await read(service, wanted, { limit: 40 });
  expect([begun.failed, begun.ways]).toEqual([true, ['whole', 'own']]);
  service.failsAfter = Number.POSITIVE_INFINITY;
  const { found } = await read(service, wanted, { before: begun.next });
  expect(new Set([...begun.found, ...found])).toEqual(new Set(all));
  expect(begun.found.length + found.length).toBe(all.length);
});
