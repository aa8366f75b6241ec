import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PostCounter } from '../../../src/cli/lists/post-counter.ts';
import { pageRow } from '../../../src/core/pages/post.ts';
import { openDesk, openHome } from '../../e2e/harness.ts';
import type { InProcessOptions } from '../../e2e/in-process.ts';
import { page, thesis } from '../../e2e/records.ts';
import { withService } from '../../e2e/service.ts';

const PAGE = 20;

/** A service with 100 posts, which has as many pages of 20, and the lists of one person. */
async function openLists() {
  const desk = await openDesk({ theses: 100 });
  const list = (line: string, more?: InProcessOptions) =>
    desk.run(`thesis list ${line}`.split(' '), more);
  const all = (await list('--all')).records();
  const spent = desk.sandbox.meter().totalUnits;
  return { ...desk, list, all, paid: () => desk.sandbox.meter().totalUnits - spent };
}

/** The pages of a plan, by the flags of the list. */
const plans: readonly (readonly [line: string, pages: object])[] = [
  ['--limit 20', { most: 200 }],
  ['--limit 41', { times: 3, most: 600 }],
  ['--all', { times: null, most: null }],
  ['--since 2020-01-01', { times: null, most: null }],
  ['--limit 40 --until 2030-01-01', { times: null, most: null }],
  ['--limit 40 --symbol WIF', { times: null, most: null }],
  ['--limit 40 --sort pnl', { times: 2, most: 400 }],
  ['--limit 40 --count-by day', { most: 200 }],
  ['--limit 40 --all --count-by day', { times: null, most: null }],
];

test('the plan of a list has the lookup, then its pages', async () => {
  const { sandbox, run } = await openDesk();
  const lookup = { endpoint: 'user.handle', least: 100, most: 200 };
  for (const [line, pages] of plans) {
    const plan = await run(`thesis list --user mira ${line} --dry-run -o ndjson`.split(' '));
    const calls = [lookup, { endpoint: 'thesis.user', least: 0, ...pages }];
    expect(plan.records(), line).toMatchObject(calls);
    expect([plan.exitCode, sandbox.log], line).toEqual([0, []]);
  }
});

test.each<[string, string, number]>([
  ['thesis list', '--user @nobody_here', 100],
  ['thesis list', '--user @nobody_here --user @nobody_there', 200],
  ['thesis list', '--user @nobody_here --user @mira', 300],
  ['thesis tail --no-follow', '--user @nobody_here', 100],
  ['launchpad callouts', '--user @nobody_here', 100],
  ['launchpad tail --no-follow', '--user @nobody_here', 100],
])(
  'the least cost of %s %s is without the pages of somebody who may not exist',
  async (command, who, least) => {
    const { sandbox, run } = await openDesk();
    await run('whois mira'.split(' '));
    const leastOf = async () => {
      const plan = await run(`${command} ${who} --dry-run -o ndjson`);
      return plan.records().reduce((sum, row) => sum + Number(row['least']), 0);
    };
    expect(await leastOf()).toBe(least);
    const before = sandbox.meter().totalUnits;
    await run(`${command} ${who}`);
    expect(sandbox.meter().totalUnits - before).toBeGreaterThanOrEqual(least);
    if (!who.includes('mira')) expect(await leastOf()).toBe(0);
  },
);

test('a list is asked for with the number of rows, and sends nothing without a place for them', async () => {
  const { list, paid, run } = await openLists();
  await run('config set confirmAbove 500'.split(' '));
  const asked = await list('--limit 41', { tty: true, typed: ['n\n'] });
  expect(asked.said).toContain('Fetching up to 41 theses will cost');
  expect((await list('--limit 41 --out none/there.ndjson --yes')).exitCode).toBe(2);
  expect(paid()).toBe(0);
});

test.each<[string, string]>([
  ['--limit 70', '--limit 30'],
  ['--all --sort likeCount', '--sort likeCount'],
  ['--all --reverse', '--reverse'],
])('a list that fails on its third page prints what was paid for: %s', async (line, more) => {
  const { list, all } = await openLists();
  const ran = await list(`${line} --max-cu 400 -o ndjson`);
  expect([ran.exitCode, ran.error()['code']]).toEqual([6, 'CEILING']);
  const read = all.slice(0, 2 * PAGE);
  expect(ran.error()['hint']).toContain(more);
  expect(ran.error()['hint']).toContain(`--before ${read.at(-1)?.['id']}`);
  const likes = ({ likeCount }: Record<string, unknown>) => Number(likeCount ?? -1);
  if (line.includes('--sort')) read.sort((one, other) => likes(other) - likes(one));
  if (line.includes('--reverse')) read.reverse();
  expect(ran.records().map(likes)).toEqual(read.map(likes));
  expect(new Set(ran.records())).toEqual(new Set(read));
});

test.each([
  ['the first page', '--limit 70 --max-cu 100', 0],
  ['a count that the rest would not be added to', '--all --count-by day --max-cu 400', 2 * PAGE],
])('no way to continue is stated after %s', async (_, line, posts) => {
  const { list } = await openLists();
  const ran = await list(line);
  expect([ran.exitCode, ran.error()['code']]).toEqual([6, 'CEILING']);
  expect(ran.error()['hint']).toMatch(/raise --max-cu$/);
  expect(ran.records().reduce((sum, record) => sum + Number(record['posts']), 0)).toBe(posts);
});

test.each([
  ['--limit 30', 400],
  ['--limit 5 --grep NONE', 1_000],
])('a list reads page after page, and stops at its limit: %s', async (line, cu) => {
  const { list, paid } = await openLists();
  await list(line);
  expect(paid()).toBe(cu);
});

test('a list that an agent counts is whole', async () => {
  const { run } = await openDesk();
  const words = 'thesis list --since 30d --count-by tokenNetwork'.split(' ');
  const counted = await run(words, { env: { CLAUDECODE: '1' } });
  expect(counted.records()).toEqual((await run(words)).records());
});

/** The certificate of a file to which a list was written. */
const certificateIn = (path: string) => {
  const { readAt, feed, ...certificate } = JSON.parse(readFileSync(`${path}.trdr`, 'utf8'));
  return certificate;
};

test.each([
  ['--since 2020-01-01', 100, true],
  ['--since 2020-01-01', 0, true],
  ['--since 2020-01-01 --sort pnl --top 3', 100, false],
  ['--since 2020-01-01 --count-by day', 100, false],
  ['--since 2020-01-01 --count-by day', 0, false],
])('a file is certified only if its rows are those of a stretch: %s of %i', async (...row) => {
  const [line, theses, isCertified] = row;
  const { home, run } = await openDesk({ theses });
  expect((await run(`thesis list ${line} --out posts.ndjson`.split(' '))).exitCode).toBe(0);
  expect(existsSync(join(home.path, 'posts.ndjson.trdr'))).toBe(isCertified);
});

test('an empty page that reports the end certifies the same stretch', async () => {
  const posts = Array.from({ length: 50 }, (_, at) => thesis(at));
  const [first, second] = await Promise.all(
    [false, true].map(async (endsEmpty) => {
      const home = openHome();
      const sandbox = await withService(({ path }) => {
        const before = new URL(path, 'http://localhost').searchParams.get('before');
        const from = before === null ? 0 : Number(before.slice(1)) + 1;
        const items = posts.slice(from, from + PAGE);
        const hasMore = endsEmpty ? items.length > 0 : from + PAGE < posts.length;
        const nextBefore = hasMore ? items.at(-1)?.['id'] : null;
        return { body: { ...page(items), hasMore, nextBefore } };
      });
      const words = 'thesis list --since 2020-01-01 --out p.ndjson --yes'.split(' ');
      const ran = await home.run(words, { sandbox, differs: true });
      expect(ran.exitCode, ran.stderr).toBe(0);
      return certificateIn(join(home.path, 'p.ndjson'));
    }),
  );
  expect(first).toMatchObject({ end: true, rows: 50 });
  expect(second).toEqual(first);
});

test.each([
  ['authorId', ['0AB-1', '0ab-1'], 1],
  ['wallet', ['0xAB', '0xab', 'Ab', 'ab'], 3],
])('counts an author by %s once in all spellings', (field, authors, count) => {
  const counter = new PostCounter('day', field, true);
  for (const author of authors) counter.add(pageRow({ [field]: author }, 'at'));
  expect(counter.records()).toEqual([{ day: null, posts: authors.length, authors: count }]);
});
