import { createHash } from 'node:crypto';
import { linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Thesis } from '../../src/contract/records/thesis.ts';
import { jsonLine } from '../../src/output/format/ndjson.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { repeats, seedsOf } from '../repeats.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { type Rng, rngOf } from '../sim/rng.ts';
import { argv, linesOf, openDesk, openHome } from './harness.ts';
import { receiptOf } from './numbers.ts';
import { type FakeService, withService } from './service.ts';

const seeds = seedsOf(repeats('CAMPAIGN_RUNS', 1, 100));

/** The posts, without those that are too new to be called gone. */
const postsOf = ({ world, clock }: Sandbox): Thesis[] =>
  (world.theses().slice(undefined, 100_000, clock.now())?.items ?? [])
    .filter(({ platformCreatedAt }) => (platformCreatedAt ?? 0) < clock.now() - 300_000)
    // Lone surrogates are printed as U+FFFD.
    .map((post) => JSON.parse(jsonLine(post)));

/** Some posts of the feed: of a few authors, of a few tokens, or here and there. */
function someOf(dice: Rng, posts: readonly Thesis[]): Thesis[] {
  const [some, others] = [dice.pick(posts), dice.pick(posts)];
  const isOf = dice.pick([
    ({ authorId }: Thesis) => authorId === some.authorId || authorId === others.authorId,
    ({ tokenAddress }: Thesis) => tokenAddress === some.tokenAddress,
    () => dice.chance(0.03),
    (post: Thesis) => posts.indexOf(post) < 60,
  ]);
  return posts.filter(isOf).filter(() => dice.chance(0.8));
}

/** What happens to posts until they are read again: some are closed, some deleted. */
function change(dice: Rng, sandbox: Sandbox, posts: readonly Thesis[]): void {
  const [closing, gone] = [dice.pick([0, 0.3]), dice.pick([0, 0.1, 0.5])];
  for (const { id } of posts) {
    if (dice.chance(closing))
      sandbox.world
        .theses()
        .change(id, (post) => ({ ...post, closedAt: 1_700_000_000_000, pnl: 7 }));
    if (dice.chance(gone)) sandbox.world.theses().remove(id);
  }
}

/** Each recorded post as the sandbox has it now. */
function refreshedBy(sandbox: Sandbox, recorded: readonly Thesis[]) {
  const now = new Map(postsOf(sandbox).map((post) => [post.id, post]));
  return recorded.map((post) => {
    const present = now.get(post.id);
    if (present) return { ...present, gone: false };
    return { ...post, gone: true };
  });
}

async function recording(seed: number, faults?: string) {
  const dice = rngOf(seed);
  const desk = await openDesk(faults === undefined ? { seed } : { seed, faults });
  const recorded = someOf(dice, postsOf(desk.sandbox));
  const half = dice.int(recorded.length + 1);
  const files = ['one.ndjson', 'two.ndjson.gz'].map((name) => join(desk.home.path, name));
  const [one = '', two = ''] = files;
  writeFileSync(one, linesOf(recorded.slice(0, half)));
  writeFileSync(two, gzipSync(linesOf(recorded.slice(Math.max(0, half - 2)))));
  writeFileSync(`${one}.trdr`, '{}');
  change(dice, desk.sandbox, recorded);
  const clock = virtualClock(desk.sandbox.clock.now());
  const run = (...words: string[]) => desk.run(['thesis', 'refresh', ...words], { clock });
  return { ...desk, dice, recorded, files, run };
}

const digestOf = (paths: readonly string[]) =>
  paths.map((path) => createHash('sha256').update(readFileSync(path)).digest('hex'));

const NOW = Date.UTC(2026, 1, 1);
const PAGE_CU = 200;

/** A feed with a post a second, each author and token in turn. */
const feedOf = (authors: number, tokens: number) =>
  Array.from({ length: 6_000 }, (_, at) => ({
    id: `p${at}`,
    authorId: `00000000-0000-4000-8000-${String(at % authors).padStart(12, '0')}`,
    authorHandle: `h${at % authors}`,
    tokenAddress: `So${at % tokens}`,
    thesis: `${at}`,
    closedAt: null,
    platformCreatedAt: NOW - at * 1_000,
  }));

type FeedPost = { readonly [K in keyof ReturnType<typeof feedOf>[number]]?: unknown } & {
  readonly id: string;
};

interface Page {
  readonly items: readonly FeedPost[];
  readonly hasMore: boolean;
}

/** A service with the pages that `pageBelow` makes of the feed with this path. */
const withPages = (pageBelow: (before: string | null, feed: string) => Page) =>
  withService(({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://service');
    const { items, hasMore } = pageBelow(searchParams.get('before'), pathname);
    return { body: { count: items.length, hasMore, nextBefore: items.at(-1)?.id ?? null, items } };
  });

const pageOf = (posts: readonly FeedPost[], before: string | null): Page => {
  const from = posts.findIndex(({ id }) => id === before) + 1;
  return { items: posts.slice(from, from + 20), hasMore: from + 20 < posts.length };
};

/** A service with these posts in their three kinds of feeds. */
const withFeed = (posts: readonly FeedPost[]) =>
  withPages((before, feed) => {
    const [kind, value] = feed.split('/').slice(3);
    const held = posts.filter(
      (post) => (kind === 'user' ? post.authorId : post.tokenAddress) === value || !kind,
    );
    return pageOf(held, before);
  });

/** Refreshes a file of these posts. They may lack fields of their schema if it `differs`. */
function refresher(sandbox: FakeService, recorded: readonly FeedPost[], differs = false) {
  const home = openHome();
  const file = home.write('posts.ndjson', recorded);
  return (...words: string[]) =>
    home.run(['thesis', 'refresh', file, ...words], { sandbox, clock: virtualClock(NOW), differs });
}

/** Posts of one author, a minute each, a month ago. */
const oldPosts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `p${at}`,
    authorId: '00000000-0000-4000-8000-000000000001',
    authorHandle: 'mira',
    thesis: `${at}`,
    closedAt: null,
    platformCreatedAt: Date.UTC(2026, 0, 1) - at * 60_000,
  }));

async function refreshOf(recorded: readonly FeedPost[], posts: readonly FeedPost[]) {
  const service = await withFeed(posts);
  const run = refresher(service, recorded, true);
  const price = (await run('--dry-run')).records();
  const ran = await run('--max-cu', '1M');
  expect(ran.exitCode, ran.stderr).toBe(0);
  const sum = (name: string) => price.reduce((total, call) => total + Number(call[name]), 0);
  const cost = service.calls.length * PAGE_CU;
  expect(cost).toBeGreaterThanOrEqual(sum('least'));
  expect(cost).toBeLessThanOrEqual(sum('most'));
  const kinds = service.calls.map((call) => /thesis[/](user|token)/.exec(call)?.[1] ?? 'whole');
  return { ran, kinds, count: (kind: string) => kinds.filter((each) => each === kind).length };
}

describe('trdr thesis refresh reads the cheapest pages, and names them', () => {
  const last = (count: number) => (posts: FeedPost[]) => posts.slice(0, count);

  test.each([
    // The posts of the last minute are in three pages, and in those of 34 tokens.
    [
      40,
      34,
      last(60),
      { whole: 3 },
      /reading the whole feed for 34 tokens: about 800 CU \(their own pages: about 6,800 CU\)/,
    ],
    [
      34,
      40,
      last(60),
      { whole: 3 },
      /reading the whole feed for 34 authors: about 800 CU \(their own pages: about 6,800 CU\)/,
    ],
    // A page of the feed shows that it is too long down to these posts.
    [
      2_000,
      3_000,
      (posts: FeedPost[]) => posts.slice(5_000, 5_040),
      { whole: 1, user: 40 },
      /reading the pages of 40 authors: about 8,000 CU \(the whole feed: about 5\d,\d00 CU\)/,
    ],
    // Few pages are read without a look at the feed.
    [3, 5_000, last(9), { user: 3 }, /reading the pages of 3 authors: about 600 CU\n/],
    [5_000, 4, last(12), { token: 4 }, /reading the pages of 4 tokens: about 800 CU\n/],
  ] as const)('%i authors, %i tokens', async (authors, tokens, recording, counts, line) => {
    const posts = feedOf(authors, tokens);
    const recorded = recording(posts);
    const { ran, count } = await refreshOf(recorded, posts);
    const read = { whole: count('whole'), user: count('user'), token: count('token') };
    expect(read).toEqual({ ...{ whole: 0, user: 0, token: 0 }, ...counts });
    expect(ran.stderr).toMatch(line);
    expect(ran.records()).toEqual(recorded.map((post) => ({ ...post, gone: false })));
  });

  test('the whole feed has posts without an author and a token, and shows what is gone', async () => {
    const posts: FeedPost[] = feedOf(50, 50);
    const recorded = posts.slice(150, 230).map(({ authorId, tokenAddress, ...post }, at) => {
      const isAddressed = at % 10 > 0;
      return isAddressed ? { ...post, authorId, tokenAddress } : post;
    });
    const ids = new Map(recorded.map((post) => [post.id, post]));
    const isGone = ({ id }: FeedPost) => /[07]$/.test(id) && ids.has(id);
    const held = posts.filter((post) => !isGone(post)).map((post) => ids.get(post.id) ?? post);
    const { ran, kinds } = await refreshOf(recorded, held);
    expect(new Set(kinds)).toEqual(new Set(['whole']));
    expect(ran.records()).toEqual(recorded.map((post) => ({ ...post, gone: isGone(post) })));
  });
});

describe('trdr thesis refresh', () => {
  test.each(seeds)('prints each recorded post as it is now (SEED=%i)', async (seed) => {
    const { sandbox, home, recorded, files, run } = await recording(seed);
    const before = digestOf([...files, `${files[0]}.trdr`]);
    const price = (await run(...files, '--dry-run')).records();
    const sum = (name: string) => price.reduce((total, call) => total + Number(call[name]), 0);
    expect(sandbox.meter().totalUnits).toBe(0);
    const ran = await run(...files, '--max-cu', '1M');
    expect(ran.exitCode, ran.stderr).toBe(0);
    const isAddressed = ({ authorId, tokenAddress }: Thesis) => Boolean(authorId ?? tokenAddress);
    const isByWhole = ran.stderr.includes('reading the whole feed');
    const expected = refreshedBy(sandbox, recorded).map((post, at) => {
      const given = recorded[at];
      return given && (isByWhole || isAddressed(given)) ? post : given;
    });
    expect(ran.records()).toEqual(expected);
    expect(sandbox.meter().totalUnits).toBe(receiptOf(home).cu);
    expect(sandbox.meter().totalUnits).toBeGreaterThanOrEqual(sum('least'));
    expect(digestOf([...files, `${files[0]}.trdr`])).toEqual(before);
  });

  test.each(seeds)('calls no post gone that is there (SEED=%i)', async (seed) => {
    const faults = 'thesis.user,thesis.token,thesis.all'
      .split(',')
      .flatMap((id) => [`500@${id}=10%`, `lost@${id}=3%`, `html@${id}=3%`])
      .join(', ');
    const { sandbox, dice, recorded, files, run } = await recording(seed, faults);
    const retries = ['--retries', dice.pick(['0', '3'])];
    const limit = dice.pick([[], ['--max-cu', '2000'], ['--max-cu', '1M']]);
    const ran = await run(...files, ...retries, ...limit, '--yes');
    const rows = ran.records();
    const expected = refreshedBy(sandbox, recorded);
    const states = new Set(
      rows.map(({ gone }, at) => {
        expect(rows[at]).toEqual(gone === undefined ? recorded[at] : expected[at]);
        return gone;
      }),
    );
    expect(rows.length, ran.stderr).toBe(recorded.length);
    const isAll = rows.every(
      ({ gone, authorId, tokenAddress }) => gone !== undefined || !(authorId ?? tokenAddress),
    );
    expect(ran.exitCode === 0, `${ran.exitCode} ${[...states]}: ${ran.stderr}`).toBe(isAll);
    if (limit[1] === '2000') expect(sandbox.meter().totalUnits).toBeLessThanOrEqual(2_000);
  });

  test.each(seeds)('believes no end that comes too early (SEED=%i)', async (seed) => {
    const dice = rngOf(seed);
    const posts = oldPosts(90);
    const deleted = new Set(posts.filter(() => dice.chance(0.2)).map(({ id }) => id));
    const held = posts.filter(({ id }) => !deleted.has(id));
    const service = await withPages((before) => {
      const page = pageOf(held, before);
      const kind = dice.chance(0.3) ? dice.pick(['ended', 'empty', 'last']) : 'whole';
      if (kind === 'whole') return page;
      return { items: kind === 'last' ? page.items : [], hasMore: kind === 'empty' };
    });
    const ran = await refresher(service, posts, true)('--max-cu', '1M');
    const rows = ran.records();
    for (const { id, gone } of rows)
      if (gone !== undefined) expect(gone, `${id}: ${ran.stderr}`).toBe(deleted.has(String(id)));
    expect(ran.exitCode === 0, ran.stderr).toBe(rows.every(({ gone }) => gone !== undefined));
  });

  test.each(seeds)('calls no post gone because its record differs (SEED=%i)', async (seed) => {
    const faults = 'drift@thesis.user=50%, drift@thesis.token=50%, drift@thesis.all=50%';
    const { sandbox, home, recorded, files } = await recording(seed, faults);
    const clock = virtualClock(sandbox.clock.now());
    const words = ['thesis', 'refresh', ...files, '--max-cu', '1M'];
    const ran = await home.run(words, { sandbox, clock, differs: true });
    const there = new Set(postsOf(sandbox).map(({ id }) => id));
    const gone = ran.records().filter((row) => row['gone'] === true);
    expect(
      gone.filter(({ id }) => there.has(String(id))),
      ran.stderr,
    ).toEqual([]);
    expect(ran.records().length).toBe(recorded.length);
  });

  test.each([
    [
      'the first walk lacks it',
      (_: number, isFirstWalk: boolean) => (isFirstWalk ? 'without' : 'whole'),
    ],
    [
      'every other page claims to be the end',
      (request: number) => (request % 2 === 0 ? 'end' : 'whole'),
    ],
  ])('a post is not gone if %s', async (_, answerTo) => {
    const posts = oldPosts(30);
    let starts = 0;
    const service = await withPages((before) => {
      if (before === null) starts++;
      const kind = answerTo(service.calls.length - 1, starts === 1);
      if (kind === 'end') return { items: [], hasMore: false };
      const { items, hasMore } = pageOf(posts, before);
      return { items: items.filter(({ id }) => kind !== 'without' || id !== 'p25'), hasMore };
    });
    const ran = await refresher(service, posts)('--max-cu', '1M');
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.records()).toEqual(posts.map((post) => ({ ...post, gone: false })));
  });

  test('says what became of the posts, and which it cannot read', async () => {
    const { sandbox, home, run } = await openDesk();
    const [open, closed] = [null, 1].map((at) =>
      postsOf(sandbox).filter(
        (post) =>
          post.authorId &&
          post.closedAt !== undefined &&
          (post.closedAt === null) === (at === null),
      ),
    );
    const [one, two, three] = open ?? [];
    const [four] = closed ?? [];
    if (!one || !two || !three || !four) throw new Error('the sandbox has open and closed posts');
    const nameless = {
      ...{ id: 'nameless', thesis: 'x', authorHandle: 'who', platformCreatedAt: 1e12 },
      // An earlier refresh has read it.
      ...{ closedAt: null, gone: false },
    };
    const file = home.write(
      'posts.ndjson',
      `${linesOf([one, two, three, four, nameless])}not a post\n`,
    );
    sandbox.world.theses().change(one.id, (post) => ({ ...post, closedAt: sandbox.clock.now() }));
    sandbox.world.theses().remove(two.id);
    const clock = virtualClock(sandbox.clock.now());
    const ran = await run(['thesis', 'refresh', file, '--fields', 'id,gone'], { tty: true, clock });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.said).toContain('1 closed since, 1 still open, 1 closed before, 1 gone');
    expect(ran.said).toContain('1 post not read: recorded without an author id and a token');
    expect(ran.said).toContain('skipped 1 line that is not a post');
    const openOnly = await run(['thesis', 'refresh', file, '--open-only'], { clock });
    expect(openOnly.records().map(({ id, gone }) => [id, gone])).toEqual([
      [one.id, false],
      [two.id, true],
      [three.id, false],
      ['nameless', undefined],
    ]);
    const table = await run(['thesis', 'refresh', file, '-o', 'table'], { clock });
    for (const words of [
      / \$0\.00 +closed since /,
      / - +gone /,
      / \$0\.00 +still open /,
      / - +not read /,
    ])
      expect(`${table.stdout.replaceAll('\n', ' ')} `).toMatch(words);
    expect(table.stdout).toContain('d PnL');
    // The summary is also for a pipe.
    expect(table.said).toContain('1 closed since, 1 still open, 1 closed before, 1 gone');
  });

  test.each([
    ['older version, newer version', ['open', 'closed']],
    ['newer version, older version', ['closed', 'open']],
    ['one time, closed in the first file', ['closedThen', 'open']],
    ['one time, closed in the last file', ['open', 'closedThen']],
  ] as const)('takes a post as it was written last: %s', async (_, names) => {
    const [post] = feedOf(1, 1);
    const closedAt = NOW + 1_000;
    const versions = {
      open: { ...post, updatedAt: NOW },
      closed: { ...post, closedAt, updatedAt: closedAt },
      closedThen: { ...post, closedAt, updatedAt: NOW },
    };
    const home = openHome();
    const files = names.map((name) => {
      const file = join(home.path, `${name}.ndjson`);
      writeFileSync(file, linesOf([versions[name]]));
      return file;
    });
    // Nothing is read again for a position that is known to be closed.
    const service = await withFeed([]);
    const words = ['thesis', 'refresh', ...files, '--open-only'];
    const ran = await home.run(words, { sandbox: service, clock: virtualClock(NOW + 60_000) });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect([ran.records(), service.calls]).toEqual([[], []]);
  });

  test('writes neither to a file that it reads nor to a certificate', async () => {
    const { home, sandbox, run } = await openDesk();
    const path = (name: string) => home.at(name);
    writeFileSync(path('posts.ndjson'), linesOf(postsOf(sandbox).slice(0, 3)));
    writeFileSync(path('posts.ndjson.trdr'), '{}');
    symlinkSync(path('posts.ndjson'), path('symbolic.ndjson'));
    linkSync(path('posts.ndjson'), path('hard.ndjson'));
    linkSync(path('posts.ndjson.trdr'), path('certificate.ndjson'));
    writeFileSync(path('packed.ndjson.gz'), gzipSync('{}'));
    for (const [file, out] of [
      ['posts.ndjson', 'posts.ndjson'],
      ['posts.ndjson', 'symbolic.ndjson'],
      ['symbolic.ndjson', 'posts.ndjson'],
      ['posts.ndjson', 'hard.ndjson'],
      ['posts.ndjson', 'posts.ndjson.trdr'],
      ['posts.ndjson', 'certificate.ndjson'],
      ['symbolic.ndjson', 'posts.ndjson.trdr'],
      ['packed.ndjson.gz', 'packed.ndjson.trdr'],
    ] as const) {
      const ran = await run(argv`thesis refresh ${path(file)} --out ${path(out)} -o ndjson --yes`);
      expect([file, out, ran.exitCode], ran.stderr).toEqual([file, out, 2]);
      expect(ran.stderr).toContain('are the same file');
    }
    expect(sandbox.meter().totalUnits).toBe(0);
    const ran = await run(['thesis', 'refresh', path('posts.ndjson'), '--out', path('new.ndjson')]);
    expect([
      ran.exitCode,
      readFileSync(path('new.ndjson'), 'utf8').trim().split('\n').length,
    ]).toEqual([0, 3]);
  });

  test('reads a file from the service from which it was recorded, and no other', async () => {
    const { run } = await openDesk();
    const other = await openDesk();
    await run('thesis list --out posts.ndjson');
    const file = 'posts.ndjson';
    const ran = await run(['thesis', 'refresh', file], { sandbox: other.sandbox });
    expect([ran.exitCode, other.sandbox.meter().totalUnits], ran.stderr).toEqual([2, 0]);
    expect((await run(['thesis', 'refresh', file])).exitCode).toBe(0);
  });

  test('stops at the price stated before, with what it has read', async () => {
    const authorId = '00000000-0000-4000-8000-000000000001';
    const post = (index: number) => ({
      ...{ id: `p${index}`, authorId, authorHandle: 'mira', thesis: '' },
      platformCreatedAt: NOW - index * 1_000,
    });
    const service = await withPages((before) => {
      const from = before === null ? 0 : Number(before.slice(1)) + 1;
      return { items: Array.from({ length: 20 }, (_, row) => post(from + row)), hasMore: true };
    });
    const run = refresher(service, [post(3), post(1_000)]);
    const [price] = (await run('--dry-run')).records();
    const ran = await run();
    expect(ran.exitCode).toBe(6);
    expect(ran.records().map(({ gone }) => gone)).toEqual([false, undefined]);
    expect(service.calls.length * 200).toBe(price?.['most']);
    expect(ran.error()).toMatchObject({ code: 'CEILING', hint: 'pass --max-cu N to read on' });
    expect((await run('--max-cu', '20000')).exitCode).toBe(0);
  });
});
