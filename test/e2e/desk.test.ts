import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { readText } from './feed.ts';
import { calloutsOf, openDesk, recordsIn, thesesOf } from './harness.ts';

// A desk: one feed of many authors, tokens, coins or wallets, by the cheaper way.

type Desk = Awaited<ReturnType<typeof openDesk>>;
type Fields = Readonly<Record<string, unknown>>;

const idsOf = (records: readonly Fields[]) => records.map(({ id }) => id);

/** Authors of the newest posts, each once. */
const authorsOf = (sandbox: Sandbox, many: number) => {
  const authors = thesesOf(sandbox).flatMap(({ authorId, authorHandle }) =>
    authorId && authorHandle ? [[authorId, authorHandle] as const] : [],
  );
  return [...new Map(authors)].slice(0, many).map(([id, handle]) => ({ id, handle }));
};

/** A desk of 28 names: one is unknown, one is an earlier name, one is there twice in another form. */
function deskOf({ sandbox, home }: Desk) {
  const authors = authorsOf(sandbox, 25);
  const [first] = authors;
  const names = authors.map(({ id, handle }, at) => (at % 3 === 0 ? id : `@${handle}`));
  const text = ['# the desk', ...names, `https://x.com/nobodyhere`, 'nowrenamed', first?.handle];
  home.write('desk.txt', `${text.join('\n')}\n`);
  return { authors, ids: new Set<unknown>(authors.map(({ id }) => id)) };
}

const costOf = (ran: { readonly stderr: string }): number =>
  JSON.parse(ran.stderr.split('\n').find((line) => line.startsWith('{"version"')) ?? '{}').cu;

test('of a long list of unknown names, only the first are printed', async () => {
  const { sandbox, run } = await openDesk({ rate: 0 });
  const names = Array.from({ length: 30 }, (_, at) => `nobody${at}`).join(',');
  const none = await run(['thesis', 'list', '--user', names]);
  expect(none.error()['message']).toMatch(/^no user found for nobody0 .* nobody19 and 10 more$/);
  const [author] = authorsOf(sandbox, 1);
  const some = await run(['thesis', 'list', '--user', `${names},${author?.handle}`]);
  expect(some.said).toContain('nobody19 and 10 more (30 of 31 authors)');
});

test('a list of a desk has the posts of its authors, newest first, for what the receipt says', async () => {
  const desk = await openDesk({ rate: 0 });
  const { sandbox, home, run } = desk;
  const { ids } = deskOf(desk);
  const wanted = thesesOf(sandbox).filter(({ authorId }) => ids.has(authorId));
  const words = ['thesis', 'list', '--users', 'desk.txt', '--receipt', '-'];
  const limit = 40;
  const first = await run([...words, '--limit', `${limit}`]);
  expect(first.exitCode, first.stderr).toBe(0);
  expect(idsOf(first.records())).toEqual(idsOf(wanted.slice(0, limit)));
  expect(first.said).toContain('not found: https://x.com/nobodyhere nowrenamed (2 of 28 authors)');
  expect(first.said).toMatch(/reading the (whole feed for|pages of) 25 authors: /);
  expect(costOf(first)).toBe(sandbox.meter().totalUnits);
  // All posts: the authors are known now, the others are asked for again only after a while.
  const all = await run([...words, '--all', '--out', 'all.ndjson']);
  expect(all.exitCode, all.stderr).toBe(0);
  const times = wanted.map(({ platformCreatedAt }) => platformCreatedAt);
  const listed = recordsIn(readText(home.at('all.ndjson')));
  expect(listed.map(({ platformCreatedAt }) => platformCreatedAt)).toEqual(times);
  expect(new Set(idsOf(listed))).toEqual(new Set(idsOf(wanted)));
  expect(costOf(first) + costOf(all)).toBe(sandbox.meter().totalUnits);
  const filters = JSON.parse(readText(home.at('all.ndjson.trdr'))).filters;
  expect(filters.users).toEqual([...ids].sort());
});

test('authors are read from text, CSV, NDJSON and stdin, and flags add to them', async () => {
  const { sandbox, home, run } = await openDesk({ rate: 0 });
  const [one, two, three] = authorsOf(sandbox, 3);
  const files = {
    'desk.csv': `name,who\na,${one?.id}\nb,${two?.id}\n`,
    'desk.ndjson': `{"who":"${one?.id}"}\n{"who":"${two?.id}"}\n`,
  };
  for (const [name, text] of Object.entries(files)) home.write(name, text);
  const list = async (words: readonly string[], stdin = '') => {
    const ran = await run(['thesis', 'list', '--limit', '9', ...words], { stdin });
    return ran.exitCode === 0 ? idsOf(ran.records()) : [ran.exitCode];
  };
  const ids = new Set<unknown>([one?.id, two?.id]);
  const wanted = thesesOf(sandbox).filter(({ authorId }) => ids.has(authorId));
  const expected = idsOf(wanted.slice(0, 9));
  for (const name of Object.keys(files))
    expect(await list(['--users', name, '--column', 'who']), name).toEqual(expected);
  expect(await list(['--users', '-'], `${one?.id}\n${two?.id.toUpperCase()}\n`)).toEqual(expected);
  expect(await list(['--user', `${one?.handle}`, '--user', `${two?.id}`])).toEqual(expected);
  expect(await list(['--users', 'desk.csv'])).toEqual([2]);
  expect(await list(['--users', '-'], '# nobody\n')).toEqual([2]);
  expect(await list(['--user', 'nobodyhere', '--user', 'nowrenamed'])).toEqual([3]);
  expect(
    await list(['--user', `${three?.id}`, '--user', `${two?.id}`, '--before', 'a,b,c']),
  ).toEqual([2]);
});

test('one hundred authors cost what the stated way says, to the unit', async () => {
  const { sandbox, home, run } = await openDesk({ rate: 0 });
  const authors = authorsOf(sandbox, 100);
  expect(authors.length).toBe(100);
  home.write('ids.txt', authors.map(({ id }) => `${id}\n`).join(''));
  const ran = await run('thesis list --users ids.txt --all --max-cu 200k --receipt -');
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(ran.said).toContain('reading the pages of 100 authors: at least 20,000 CU');
  const counts = authors.map(
    ({ id }) => thesesOf(sandbox).filter(({ authorId }) => authorId === id).length,
  );
  // A look at the whole feed, and the pages of each author.
  const blocks = counts.reduce((sum, count) => sum + Math.max(1, Math.ceil(count / 20)), 1);
  expect([costOf(ran), sandbox.meter().totalUnits]).toEqual([200 * blocks, 200 * blocks]);
  expect(ran.records().length).toBe(counts.reduce((sum, count) => sum + count, 0));
});

test('what cron appends follows a list that changes: each post once, and the certificate is true', async () => {
  const desk = await openDesk({ rate: 0 });
  const { sandbox, home, run } = desk;
  const { authors, ids } = deskOf(desk);
  const words = 'thesis tail --no-follow --users desk.txt --out desk.ndjson --since 2h'.split(' ');
  const cron = async () => {
    for (let i = 0; i < 60; i++) sandbox.post();
    const ran = await run(words);
    expect(ran.exitCode, ran.stderr).toBe(0);
    return ran;
  };
  expect((await cron()).said).toContain('posts of 25 authors: reading');
  const spent = sandbox.meter().totalUnits;
  const second = await cron();
  expect(second.said).not.toContain('other authors');
  expect(sandbox.meter().totalUnits).toBeGreaterThan(spent);
  const since = recordsIn(readText(home.at('desk.ndjson')))[0]?.['platformCreatedAt'];
  const wanted = () =>
    thesesOf(sandbox).filter(
      ({ authorId, platformCreatedAt }) =>
        ids.has(authorId) && Number(platformCreatedAt) >= Number(since),
    );
  expect(new Set(idsOf(recordsIn(readText(home.at('desk.ndjson')))))).toEqual(
    new Set(idsOf(wanted())),
  );
  writeFileSync(
    home.at('desk.txt'),
    authors
      .slice(3)
      .map(({ id }) => `${id}\n`)
      .join(''),
  );
  const third = await cron();
  const [, part = ''] =
    /other authors than in the last run \(0 new, 3 gone\): finished (desk\.\w+\.ndjson), a new stretch begins after \S+ in /.exec(
      third.said,
    ) ?? [];
  const parts = [part, 'desk.ndjson'].map((name) => recordsIn(readText(home.at(name))));
  const lines = parts.flat();
  expect(new Set(idsOf(lines)).size).toBe(lines.length);
  expect((await cron()).said).not.toContain('other authors');
  const verified = await run('verify desk.ndjson -o json');
  expect(verified.said).toContain('written with 2 different filters');
  expect(verified.exitCode).toBe(0);
  const whole = verified.json() as Fields & { from: number; to: number };
  const [old, young] = whole['files'] as { from: number; to: number; rows: number }[];
  expect(old).toMatchObject({ status: 'complete', duplicates: 0, rows: parts[0]?.length });
  expect(young).toMatchObject({ status: 'complete', duplicates: 0 });
  // What was proved stays proved, and nothing lies between the two.
  expect([whole.from, young?.from, whole.to]).toEqual([old?.from, Number(old?.to) + 1, young?.to]);
  const written = [part, 'desk.ndjson'].flatMap((name) => recordsIn(readText(home.at(name))));
  const replayed = await run(
    `thesis tail --replay ${part} desk.ndjson --user ${authors[4]?.id} --user x`,
  );
  expect(idsOf(replayed.records())).toEqual(
    idsOf(written.filter(({ authorId }) => authorId === authors[4]?.id)),
  );
});

test('callouts of several wallets, also by the names of their users, and of several coins', async () => {
  const { sandbox, home, run } = await openDesk({ rate: 0 });
  const all = calloutsOf(sandbox);
  const wallets = [...new Set(all.map(({ wallet }) => wallet))].slice(0, 6);
  const coins = [...new Set(all.map(({ coinMint }) => coinMint))].slice(0, 3);
  const known = wallets.map((wallet) => sandbox.world.userByWallet(wallet)).find((user) => user);
  const named = [known?.solanaAddress, known?.evmAddress];
  const list = async (...words: string[]) => {
    const clock = virtualClock(sandbox.clock.now());
    const ran = await run(['launchpad', ...words], { clock });
    expect(ran.exitCode, ran.stderr).toBe(0);
    return idsOf(ran.records());
  };
  home.write('w.txt', [...wallets, known?.handle].join('\n'));
  const ofWallets = all.filter(({ wallet }) => [...wallets, ...named].includes(wallet));
  const listed = await list('callouts', '--users', 'w.txt', '--limit', '50');
  expect(listed).toEqual(idsOf(ofWallets.slice(0, 50)));
  const ofCoins = all.filter(({ coinMint }) => coins.includes(coinMint));
  const flags = coins.flatMap((coin) => ['--coin', coin]);
  expect(await list('callouts', ...flags, '--limit', '30')).toEqual(idsOf(ofCoins.slice(0, 30)));
  const both = await run(['launchpad', 'callouts', ...flags, '--users', 'w.txt']);
  expect(both.exitCode).toBe(2);
  const since = ofWallets[20]?.createdAt;
  const tailed = await list('tail', '--no-follow', '--users', 'w.txt', '--since', `${since}`);
  expect(new Set(tailed)).toEqual(
    new Set(idsOf(ofWallets.filter(({ createdAt }) => Number(createdAt) >= Number(since)))),
  );
});

test('after a pause, a tail reads the pages of its authors where these are fewer, and follows the whole feed', async () => {
  const { sandbox, home, run } = await openDesk({ rate: 0 });
  const [, one, two] = authorsOf(sandbox, 3);
  const words = `thesis tail --no-follow --since 1h --user ${one?.id} --user ${two?.id} --out two.ndjson`;
  const cron = async () => {
    const before = sandbox.meter().totalUnits;
    const ran = await run(words);
    expect(ran.exitCode, ran.stderr).toBe(0);
    return sandbox.meter().totalUnits - before;
  };
  await cron();
  const since = Date.now() - 3_000_000;
  const [post] = thesesOf(sandbox);
  if (!post) throw new Error('the sandbox has no posts');
  const now = Date.now();
  for (let i = 300; i > 0; i--) {
    const authorId = i === 150 ? two?.id : post.authorId;
    sandbox.post({ ...post, id: `of-${i}`, authorId, platformCreatedAt: now - i * 10 });
  }
  // A look at the whole feed, and a page of each author.
  expect(await cron()).toBe(600);
  const wanted = thesesOf(sandbox).filter(
    ({ authorId, platformCreatedAt }) =>
      [one?.id, two?.id].includes(authorId ?? '') && Number(platformCreatedAt) >= since,
  );
  const lines = recordsIn(readText(home.at('two.ndjson')));
  expect(idsOf(lines)).toContain('of-150');
  expect(new Set(idsOf(lines))).toEqual(new Set([...idsOf(lines), ...idsOf(wanted)]));
  expect(new Set(idsOf(lines)).size).toBe(lines.length);
});
