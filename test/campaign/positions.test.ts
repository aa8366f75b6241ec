import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { openHome, runInProcess } from '../e2e/harness.ts';
import { type Call, type Reply, userRecord, withService } from '../e2e/service.ts';
import { repeats, seedsOf } from '../repeats.ts';
import { type Rng, rngOf } from '../sim/rng.ts';

// Authors with known positions: several posts each, opened again, without a state or a PnL, about EVM tokens in two
// spellings, by authors who were renamed, some closed while the pages are read. All figures, counts and prices of
// `trdr author` are those of this world, from the service and from files, and also if the service fails midway.
// CAMPAIGN_RUNS=500 runs longer, SEED=n repeats one run.
const RUNS = repeats('CAMPAIGN_RUNS', 2, 500);
const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

type Post = Record<string, unknown> & { readonly id: string };

/** A position of the world: what it made when it was closed, or makes now. */
interface Truth {
  readonly token: string;
  closedAt: number | null | undefined;
  pnl: number | null;
  readonly posts: Post[];
}

interface Author {
  readonly id: string;
  readonly handle: string;
  readonly truths: Truth[];
  /** Newest first. */
  readonly posts: Post[];
}

const EVM = '0xabcdef0000000000000000000000000000000';
const tokens = ['So1', 'So2', `${EVM}111`, `${EVM}222`];
const spelled = (dice: Rng, token: string) =>
  token.startsWith('0x') && dice.chance(0.5) ? `0x${token.slice(2).toUpperCase()}` : token;

/** The fields of a post that change with its position. */
function stateOf(dice: Rng, { closedAt, pnl }: Truth, writtenAt: number) {
  const [realizedPnlUsd, unrealizedPnlUsd] = closedAt === null ? [null, pnl] : [pnl, null];
  const isSingle = pnl !== null && dice.chance(0.3);
  return {
    closedAt,
    updatedAt: writtenAt,
    ...(isSingle
      ? { realizedPnlUsd: null, unrealizedPnlUsd: null }
      : { realizedPnlUsd, unrealizedPnlUsd }),
    pnl,
  };
}

function authorOf(dice: Rng, index: number): Author {
  const { id, handle } = userRecord(`ann${index}`);
  const truths: Truth[] = [];
  let at = NOW - 3_000 * MINUTE;
  const step = () => {
    at += MINUTE * (1 + dice.int(10));
    return at;
  };
  for (let count = dice.int(25); count > 0; count--) {
    const token = dice.pick(tokens);
    const isStateless = dice.chance(0.1);
    const truth: Truth = {
      token,
      closedAt: isStateless ? undefined : null,
      pnl: dice.chance(0.15) ? null : dice.int(20_001) / 10 - 1_000,
      posts: [],
    };
    // What is open, or does not say, is one position with what the author says about the token later.
    const before = truths.find((one) => one.token === token && one.closedAt === truth.closedAt);
    const own = before ?? truth;
    if (!before) truths.push(truth);
    for (let many = 1 + dice.int(3); many > 0; many--) {
      own.posts.push({
        id: `${index}-${truths.length}-${own.posts.length}-${dice.int(1e9)}`,
        authorId: id,
        authorHandle: dice.chance(0.2) ? 'before' : handle,
        tokenAddress: spelled(dice, token),
        tokenSymbol: token.slice(0, 4),
        tokenNetwork: token.startsWith('0x') ? 'base' : 'sol',
        authorTradeUsd: dice.chance(0.1) ? null : dice.int(1_000),
        platformCreatedAt: step(),
      });
    }
    if (!isStateless && dice.chance(0.7)) own.closedAt = step();
    const writtenAt = at;
    for (const post of own.posts) Object.assign(post, stateOf(dice, own, writtenAt));
    // What a post states of an open position is as old as the post.
    if (own.closedAt === null)
      for (const post of own.posts.slice(0, -1))
        Object.assign(post, {
          updatedAt: post['platformCreatedAt'],
          unrealizedPnlUsd: dice.int(1_000) - 500,
        });
  }
  const posts = truths.flatMap((truth) => truth.posts);
  for (const field of ['authorId', 'tokenAddress', 'platformCreatedAt'])
    if (dice.chance(0.3))
      posts.push({
        id: `${index}-no-${field}`,
        authorId: id,
        tokenAddress: 'So1',
        platformCreatedAt: NOW - 2_000 * MINUTE,
        closedAt: null,
        [field]: null,
      });
  const timeOf = (post: Post) => Number(post['platformCreatedAt'] ?? 0);
  return { id, handle, truths, posts: posts.sort((one, other) => timeOf(other) - timeOf(one)) };
}

/** A service of these authors. Between two pages, a position may be closed. */
async function serviceOf(dice: Rng, authors: readonly Author[], failsAfter: number) {
  // Some services promise a page below one that is full, also if it is empty.
  const state = { spent: 0, pages: 0, promises: dice.chance(0.4) };
  if (state.promises) for (const { posts } of authors) posts.length -= posts.length % 20;
  const served = new Map<string, Post[]>();
  const service = await withService(({ path }: Call): Reply => {
    const url = new URL(path, 'http://service');
    const name = decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
    const author = authors.find(({ id, handle }) => id === name || handle === name);
    if (!author) return { status: 404, body: { error: { code: 'NOT_OBSERVED', message: '' } } };
    if (url.pathname.includes('/user/handle/')) {
      state.spent += 100;
      return { body: { ...userRecord(author.handle), id: author.id } };
    }
    if (state.pages >= failsAfter)
      return { status: 500, body: { error: { code: 'INTERNAL_ERROR', message: '' } } };
    const limit = Number(url.searchParams.get('limit') ?? 20);
    const before = url.searchParams.get('before');
    const from = before === null ? 0 : author.posts.findIndex(({ id }) => id === before) + 1;
    const items = author.posts.slice(from, from + limit).map((post) => ({ ...post }));
    state.spent += 200 * Math.ceil(limit / 20);
    state.pages++;
    served.set(author.id, [...(served.get(author.id) ?? []), ...items]);
    if (dice.chance(0.5)) closeOne(dice, author);
    const isPromised = state.promises && items.length === limit;
    const hasMore = from + limit < author.posts.length || isPromised;
    return {
      body: { count: items.length, hasMore, nextBefore: hasMore ? items.at(-1)?.id : null, items },
    };
  });
  return { service, state, served };
}

function closeOne(dice: Rng, { truths }: Author): void {
  const open = truths.filter(({ closedAt }) => closedAt === null);
  if (open.length === 0) return;
  const truth = dice.pick(open);
  truth.closedAt = NOW - dice.int(1_000);
  truth.pnl = dice.int(1_000) - 500;
  for (const post of truth.posts) Object.assign(post, stateOf(dice, truth, NOW));
}

/** The positions that these posts make, without their results. */
function positionsIn(posts: readonly Post[]) {
  const positions = Object.entries(groupsOf(posts)).map(([key, group]) => {
    const times = group.map((post) => Number(post['platformCreatedAt'])).sort((a, b) => a - b);
    const first = group
      .filter((post) => post['platformCreatedAt'] === times[0])
      .sort((one, other) => (one.id < other.id ? -1 : 1))[0];
    const [token, closedAt = ''] = key.split(' ');
    const isClosed = /\d$/.test(closedAt);
    const held = Number(closedAt) - Number(times[0]);
    return {
      token,
      status: isClosed ? 'closed' : { null: 'open', undefined: 'unknown' }[closedAt],
      closedAt: isClosed ? Number(closedAt) : null,
      posts: group.length,
      firstAt: times[0],
      lastAt: times.at(-1),
      tradeUsd: first?.['authorTradeUsd'] ?? null,
      heldMs: isClosed && held >= 0 ? held : null,
    };
  });
  return newestFirst(positions);
}

/** Positions in one order, whether they are those of the world or printed. */
function newestFirst<T extends Record<string, unknown>>(positions: readonly T[]): T[] {
  const last = ({ lastAt, token, closedAt }: T) => `${lastAt} ${token} ${closedAt}`;
  return [...positions].sort((one, other) => (last(one) < last(other) ? 1 : -1));
}

/** Posts by what they are about and when it was closed, without those that do not say. */
function groupsOf(posts: readonly Post[]): Record<string, Post[]> {
  const isWhole = (post: Post) =>
    ['authorId', 'tokenAddress', 'platformCreatedAt'].every((field) => post[field] !== null);
  const groups: Record<string, Post[]> = {};
  for (const post of posts.filter(isWhole)) {
    const token = String(post['tokenAddress']);
    const key = `${token.startsWith('0x') ? token.toLowerCase() : token} ${post['closedAt']}`;
    groups[key] = [...(groups[key] ?? []), post];
  }
  return groups;
}

/** What must be said of these posts. It knows the truth by its definition, and shares no code with the program. */
function judged(posts: readonly Post[]) {
  const groups = groupsOf(posts);
  const made = (key: string, group: readonly Post[]) => {
    const last = [...group].sort(
      (one, other) =>
        Number(other['updatedAt'] ?? other['platformCreatedAt']) -
          Number(one['updatedAt'] ?? one['platformCreatedAt']) ||
        Number(other['platformCreatedAt']) - Number(one['platformCreatedAt']),
    )[0];
    if (key.endsWith(' undefined')) return undefined;
    const pnl = key.endsWith(' null') ? last?.['unrealizedPnlUsd'] : last?.['realizedPnlUsd'];
    return pnl ?? last?.['pnl'] ?? undefined;
  };
  const results = (isOf: (key: string) => boolean) =>
    Object.entries(groups).flatMap(([key, group]) => (isOf(key) ? [made(key, group)] : []));
  const closed = results((key) => /\d$/.test(key.split(' ')[1] ?? ''));
  const open = results((key) => key.endsWith(' null'));
  const values = closed.filter((value) => typeof value === 'number').sort((a, b) => a - b);
  const running = open.filter((value) => typeof value === 'number');
  const close = (list: readonly number[]) =>
    list.length === 0
      ? null
      : expect.closeTo(
          list.reduce((sum, each) => sum + each, 0),
          6,
        );
  const half = values.length / 2;
  const median = ((values[Math.ceil(half) - 1] ?? 0) + (values[Math.floor(half)] ?? 0)) / 2;
  const times = posts.flatMap((post) =>
    post['platformCreatedAt'] === null ? [] : Number(post['platformCreatedAt']),
  );
  return {
    posts: posts.length,
    from: times.length === 0 ? null : Math.min(...times),
    to: times.length === 0 ? null : Math.max(...times),
    closed: {
      positions: closed.length,
      won: values.filter((value) => value > 0).length,
      lost: values.filter((value) => value < 0).length,
      unknown: closed.length - values.length,
      sumUsd: close(values),
      medianUsd: values.length < 5 ? null : expect.closeTo(median, 6),
    },
    open: {
      positions: open.length,
      unknown: open.length - running.length,
      runningSumUsd: close(running),
    },
    unknownStatus: results((key) => key.endsWith(' undefined')).length,
  };
}

/** The posts in files, in any order, some of them again as they were before. */
function filesOf(dice: Rng, posts: readonly Post[], folder: string): string[] {
  const parts: Post[][] = [[], []];
  for (const post of posts) {
    dice.pick(parts).push(post);
    if (dice.chance(0.2))
      dice.pick(parts).push({ ...post, updatedAt: 1_500_000_000_000, closedAt: null, pnl: 1e6 });
  }
  return parts.map((part, at) => {
    const shuffled = part
      .map((post) => ({ post, place: dice.int(1_000) }))
      .sort((a, b) => a.place - b.place);
    const text = shuffled.map(({ post }) => `${JSON.stringify(post)}\n`).join('');
    const path = join(folder, `${at}.ndjson`);
    writeFileSync(path, at === 0 ? text : gzipSync(text));
    return path;
  });
}

test.each(seedsOf(RUNS))('authors have the positions of the world (seed %s)', async (seed) => {
  const dice = rngOf(seed);
  const authors = [0, 1, 2].map((index) => authorOf(dice, index));
  const failsAfter = dice.chance(0.3) ? 1 + dice.int(4) : Number.POSITIVE_INFINITY;
  const { service, state, served } = await serviceOf(dice, authors, failsAfter);
  const home = openHome();
  const flags = dice.pick([[], ['--all'], ['--limit', '20'], ['--limit', '30']]);
  const limit = flags.includes('--all') ? Number.POSITIVE_INFINITY : Number(flags[1] ?? 100);
  const run = (words: readonly string[], isFree = false) =>
    runInProcess(['author', ...words], {
      home,
      env: isFree ? {} : { TRDR_BASE_URL: service.url, TRDR_API_KEY: service.key },
      clock: virtualClock(NOW),
    });
  const one = dice.chance(0.5);
  const asked = one ? authors.slice(0, 1) : authors;
  const words = [...asked.map(({ handle }) => handle), ...flags];
  const planned = (await run([...words, '--dry-run'])).records();
  const most = planned.reduce(
    (sum, call) => sum + Number(call['most'] ?? Number.POSITIVE_INFINITY),
    0,
  );
  const before = new Map(authors.map(({ id, posts }) => [id, posts.length]));
  const { exitCode, records } = await run([...words, '--receipt', join(home.path, 'receipt')]);
  // A plan does not know that an end will be asked for twice more.
  const repeats = state.promises ? 400 * asked.length : 0;
  expect(state.spent).toBeLessThanOrEqual(most + repeats);
  expect([0, ...(Number.isFinite(failsAfter) ? [9] : [])]).toContain(exitCode);
  expect(records()).toHaveLength(asked.length);
  const found = records().filter((record) => record['found'] === true);
  for (const record of found) {
    const posts = (served.get(String(record['id'])) ?? []).slice(0, limit);
    expect(record).toMatchObject(judged(posts));
    const isAll = posts.length === before.get(String(record['id']));
    // An end that was promised to be none is not known to be one before it is read.
    const isKnown = !state.promises || (posts.length < limit && exitCode === 0);
    if (isKnown) expect(record['complete']).toBe(isAll);
    else expect([isAll && exitCode !== 0, false]).toContain(record['complete']);
  }
  const spent = state.spent;
  const receipt = JSON.parse(readFileSync(join(home.path, 'receipt'), 'utf8'));
  expect(receipt).toMatchObject({ cu: spent, exit: exitCode });
  const again = await run(words);
  if (exitCode === 0) {
    expect(again.records()).toEqual(records());
    const listed = (await run([...words, '--positions'])).records();
    for (const { id } of found) {
      const own = listed.filter(({ authorId }) => authorId === id);
      const posts = (served.get(String(id)) ?? []).slice(0, limit);
      expect(newestFirst(own)).toMatchObject(positionsIn(posts));
    }
    // An author without posts, and the page after the last one, leave nothing to save.
    expect(state.spent).toBe(spent);
  }
  const ids = new Set(asked.map(({ id }) => id));
  const all = authors.flatMap(({ posts }) => posts);
  const recorded = await run(
    [
      ...asked.map(({ id }) => id),
      ...filesOf(dice, all, home.path).flatMap((file) => ['--from', file]),
    ],
    true,
  );
  for (const record of recorded.records()) {
    if (record['found'] !== true) continue;
    const own = all.filter((post) => post['authorId'] === record['id']);
    expect(ids).toContain(record['id']);
    expect(record).toMatchObject({ ...judged(own), complete: false, via: 'file' });
  }
});
