import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readText } from './feed.ts';
import { type Home, linesOf, openHome } from './harness.ts';

const START = Date.parse('2026-05-12T10:00:00Z');

/** Forty posts, one per minute, by four authors about three tokens. */
const posts = Array.from({ length: 40 }, (_, i) => ({
  id: `p${i}`,
  tokenAddress: `token${i % 3}`,
  tokenSymbol: `T${i % 3}`,
  authorHandle: `author${i % 4}`,
  thesis: `thesis ${i}`,
  holdingsUsd: i,
  platformCreatedAt: START + i * 60_000,
}));

function withFiles() {
  const home = openHome();
  const file = home.write('posts.ndjson', posts);
  return { home, file };
}

/** Runs without a service and without a key. */
const run = (home: Home, args: readonly string[]) =>
  home.run(args, { key: null, env: { TRDR_BASE_URL: undefined } });
const replay = (home: Home, ...words: readonly string[]) =>
  run(home, ['thesis', 'tail', '--replay', ...words]);

test('posts of files pass the filters and formats of a tail, once each, without a key', async () => {
  const { home, file } = withFiles();
  const packed = home.write(
    'more.ndjson.gz',
    gzipSync(linesOf([...posts.slice(30), { ...posts[0], id: 'other' }])),
  );
  const all = await replay(home, file, packed);
  expect(all.exitCode, all.stderr).toBe(0);
  expect(all.stdout).toBe(linesOf([...posts, { ...posts[0], id: 'other' }]));
  expect(all.said).toMatch(/replayed 41 posts: 0 CU/);
  expect(all.said).toContain('skipped 10 posts');
  const idsOf = async (line: string) =>
    (await replay(home, file, ...line.split(' '), '--fields', 'id')).records().map(({ id }) => id);
  expect(await idsOf('--symbol t1 --min-holdings 20 --grep 5$')).toEqual(['p25']);
  expect(await idsOf('--user AUTHOR2 --count 3')).toEqual(['p2', 'p6', 'p10']);
  const at = new Date(START + 38 * 60_000).toISOString();
  expect(await idsOf(`--since ${at}`)).toEqual(['p38', 'p39']);
  const csv = await replay(home, file, '--count', '1', '-o', 'csv', '--fields', 'id');
  expect(csv.stdout.replaceAll('\r', '')).toBe('id\np0\n');
  expect((await replay(home, file, '--dry-run', '-o', 'ndjson')).stdout).toBe('');
});

test('the hint for an author in place of a file names the flag', async () => {
  for (const tail of ['thesis tail', 'launchpad tail']) {
    const { exitCode, error } = await run(openHome(), [...tail.split(' '), '@mira']);
    expect([exitCode, error()['hint']]).toEqual([2, expect.stringContaining('--user NAME')]);
  }
});

test.each([
  [['thesis', 'list', '--from']],
  [['thesis', 'list', '--count-by', 'authorHandle', '--from']],
  [['thesis', 'tail', '--replay']],
])('posts on which a pattern times out are not chosen without a word: %s', async (words) => {
  const home = openHome();
  const file = home.write('posts.ndjson', [{ ...posts[0], thesis: `${'a'.repeat(60)}b` }]);
  const { exitCode, said } = await run(home, [...words, file, '--grep', '(a+)+$']);
  expect(exitCode, said).toBe(0);
  expect(said).toContain('the pattern took too long on post p0');
});

test('a replay through a command hands over batches with their variables, and again what it did not accept', async () => {
  const { home, file } = withFiles();
  const command = `printf '%s ' "$TRDR_BATCH" "$TRDR_ROWS" "$TRDR_FIRST_ID" "$TRDR_LAST_ID" >> seen; [ -e works ] && cat >> got`;
  const words = ['--exec', command, '--batch', '15', '--tries', '1'];
  const failed = await replay(home, file, ...words);
  expect([failed.exitCode, failed.error()]).toMatchObject([9, { code: 'DEAD_LETTER' }]);
  const dead = /saved to (\S+\.dead\.ndjson)/.exec(failed.said)?.[1] ?? '';
  expect(readText(dead)).toBe(linesOf(posts));
  home.write('works', '');
  home.write('seen', '');
  const again = await replay(home, dead, ...words);
  expect(again.exitCode, again.stderr).toBe(0);
  expect(readText(home.at('got'))).toBe(linesOf(posts));
  expect(readText(home.at('seen')).trim()).toBe('1 15 p0 p14 2 15 p15 p29 3 10 p30 p39');
});

test('--speed keeps the distances of the posts', async () => {
  const { home, file } = withFiles();
  const began = Date.now();
  const { exitCode } = await replay(home, file, '--speed', '6000x');
  expect(exitCode).toBe(0);
  // 39 minutes, 6,000 times as fast, take 390 ms.
  expect(Date.now() - began).toBeGreaterThan(380);
});

test('a rule can be tried on a file', async () => {
  const { home, file } = withFiles();
  const found = await replay(home, file, '--confluence', '3/10m');
  const records = found.records();
  expect(records.length, found.stderr).toBeGreaterThan(3);
  expect(records[0]).toMatchObject({
    ...{ id: 'p0', version: 1, tokenAddress: 'token0', count: 3, holdingsUsd: 9 },
    authors: ['author0', 'author3', 'author2'],
    posts: [posts[0], posts[3], posts[6]],
  });
  const strict = await replay(home, file, '--confluence', '4/5m');
  expect([strict.exitCode, strict.stdout]).toEqual([0, '']);
  const table = await replay(home, file, '--confluence', '3/10m', '--count', '1', '-o', 'table');
  expect(table.stdout).toMatch(/\$T0 .*\n.*author0: thesis 0 \| author3: thesis 3/);
  const exec = ['--exec', 'cat >> rule', '--batch', '1'];
  const once = await replay(home, file, '--confluence', '3/10m', ...exec);
  expect([once.exitCode, readText(home.at('rule'))]).toEqual([0, found.stdout]);
});

test.each([
  ['few posts', 12, 60_000],
  ['posts within a short time', 40, 1_000],
  ['many posts', 2_500, 60_000],
])('files of lists and tails make the same confluences: %s', async (_, many, everyMs) => {
  const { home, file } = withFiles();
  const some = Array.from({ length: many }, (_, i) => ({
    ...posts[i % posts.length],
    id: `q${i}`,
    authorHandle: `author${(7 * i) % 11}`,
    platformCreatedAt: START + i * everyMs,
  }));
  const rule = ['--confluence', `3/${(8 * everyMs) / 1_000}s`];
  writeFileSync(file, linesOf(some));
  const { stdout } = await replay(home, file, ...rule);
  expect(stdout.split('\n').length).toBeGreaterThan(2);
  writeFileSync(file, linesOf(some.toReversed()));
  const reversed = await replay(home, file, ...rule);
  expect([reversed.exitCode, reversed.stdout]).toEqual([0, stdout]);
  const half = many / 2;
  writeFileSync(file, linesOf([...some.slice(0, half).toReversed(), ...some.slice(half)]));
  const continued = await replay(home, file, ...rule);
  expect([continued.exitCode, continued.stdout]).toEqual([0, stdout]);
});

test('lines that are not posts are counted, and a damaged archive fails', async () => {
  const { home, file } = withFiles();
  writeFileSync(file, `oops\n\n${linesOf(posts.slice(0, 2))}{"id":"to`);
  const odd = await replay(home, file);
  expect([odd.exitCode, odd.records().length]).toEqual([0, 2]);
  expect(odd.said).toContain('skipped 2 lines');
  writeFileSync(`${file}.gz`, gzipSync(linesOf(posts)).subarray(0, 300));
  expect((await replay(home, `${file}.gz`)).exitCode).toBe(9);
  expect((await replay(home, 'nowhere.ndjson')).error()['message']).toContain('nowhere.ndjson');
});

test('callouts are replayed by coin and wallet', async () => {
  const home = openHome();
  const callouts = [1, 2, 3].map((n) => ({
    id: `c${n}`,
    wallet: `w${n}`,
    coinMint: 'M',
    createdAt: START + n,
  }));
  const file = home.write('c.ndjson', callouts);
  const all = await run(home, ['launchpad', 'tail', '--replay', file, '--confluence', '3/1m']);
  expect(all.records(), all.stderr).toMatchObject([
    { tokenAddress: 'M', authors: ['w1', 'w2', 'w3'] },
  ]);
});

/** How other programs may have written the lines of a file. */
const encodings: readonly [string, (text: string) => Buffer][] = [
  ['UTF-8', (text) => Buffer.from(text)],
  ['UTF-8 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`)],
  ['UTF-16, little endian', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16, big endian', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
];

test.each(encodings)('a file in %s has all its posts, gzipped or not', async (_, encoded) => {
  const home = openHome();
  const some = [{ ...posts[0], thesis: 'Zürich 🐸' }, ...posts.slice(1, 3)];
  const bytes = encoded(linesOf(some));
  for (const [name, content] of [
    ['plain.ndjson', bytes],
    ['packed.ndjson.gz', gzipSync(bytes)],
    ['empty.ndjson', encoded('')],
  ] as const)
    home.write(name, content);
  for (const name of ['plain.ndjson', 'packed.ndjson.gz']) {
    const ran = await replay(home, name);
    expect([ran.stdout, ran.exitCode]).toEqual([linesOf(some), 0]);
    expect(ran.said).not.toContain('skipped');
    const refreshed = await run(home, ['thesis', 'refresh', name, '--dry-run', '-o', 'json']);
    expect(refreshed.stderr).not.toContain('skipped');
  }
  expect((await replay(home, 'empty.ndjson')).stdout).toBe('');
});
