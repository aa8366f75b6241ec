import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { CachedAnswer } from '../../src/contract/ports/answers.ts';
import { FileCache } from '../../src/state/cache.ts';
import { room } from './room.ts';

const { under } = room();
const KEY = 'trdr_live_planted0secret';
const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const HANDLE = 'user.handle';

function cacheAt(
  dir: string | undefined,
  { key = KEY, baseUrl = 'https://api.example.test', now = NOW } = {},
) {
  const notices: string[] = [];
  const notice = (text: string) => notices.push(text);
  const cache = new FileCache({ dir, baseUrl, key, now: () => now, notice });
  return {
    cache,
    notices,
    get: (subject: string) => cache.get(HANDLE, [subject])[0],
    put: (answer: CachedAnswer, ...subjects: string[]) =>
      cache.put(HANDLE, new Map(subjects.map((subject) => [subject, answer]))),
  };
}
const found = (record: unknown, time = NOW): CachedAnswer => ({ status: 200, time, record });
const several = Array.from({ length: 256 }, (_, at) => `s${at}`);

/** All files under a folder. */
const filesUnder = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile());

const touch = (path: string, time: number) => utimesSync(path, new Date(time), new Date(time));

test('ignores an answer from the future, saved while the clock was wrong', async () => {
  const dir = under('future');
  await cacheAt(dir, { now: NOW + 1e9 }).put(found(1, NOW + 1e9), 'ann');
  const { get, put } = cacheAt(dir);
  expect(get('ann')).toBeUndefined();
  await put(found(2), 'ann');
  expect(get('ann')).toEqual(found(2));
});

test('returns answers in the order of the subjects', async () => {
  const { cache, put } = cacheAt(under('order'));
  await put(found(1), ...several);
  await put({ status: 404, time: NOW, record: null }, 'nobody');
  const answers = cache.get(HANDLE, ['nobody', ...several.toReversed(), 'other']);
  expect(answers.map((answer) => answer?.status)).toEqual([
    404,
    ...several.map(() => 200),
    undefined,
  ]);
  expect(cache.stats()).toMatchObject({ entries: 257, found: 256, missing: 1, oldest: NOW });
});

test('removes the folders of other keys, and of other forms, that were not used for 30 days', async () => {
  const dir = under('unused');
  await cacheAt(dir, { key: 'gone' }).put(found(1), 'ann');
  const old = join(dir, 'answers', '0123456789abcdef0123456789abcdef', '7f');
  mkdirSync(old, { recursive: true });
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
    touch(join(dir, name), NOW - 31 * DAY_MS);
  await cacheAt(dir, { key: 'fresh' }).put(found(1), 'ann');
  expect(readdirSync(join(dir, 'answers'))).toHaveLength(1);
});

test('removes what is older than 30 days', async () => {
  const dir = under('old');
  const mine = cacheAt(dir);
  await mine.put(found(1), ...several);
  const [aged = '', other = '', kept = ''] = filesUnder(mine.cache.stats().path ?? '');
  for (const file of [aged, other]) touch(file, NOW - 31 * DAY_MS);
  // Each run looks at one of the 1,024 files, which depends on its time.
  const number = Number.parseInt(basename(aged), 16);
  for (const chosen of [number, Number.parseInt(basename(kept), 16)])
    await cacheAt(dir, { now: NOW - (NOW % 1_024) + chosen }).put(found(1), 'new');
  expect([aged, other, kept].map((file) => existsSync(file))).toEqual([false, true, true]);
});

test('drops answers older than 30 days from a file that is in use', async () => {
  const dir = under('compacted');
  const long = 'x'.repeat(20_000);
  await cacheAt(dir).put(found(long), 'ann');
  const later = cacheAt(dir, { now: NOW + 31 * DAY_MS });
  // The file of the old answer is compacted when it grows, also by other answers.
  for (let at = 0; later.get('ann') && at < 20_000; at += 1_000) {
    const others = Array.from({ length: 1_000 }, (_, index) => `other${at + index}`);
    await later.put(found('x'.repeat(2_000), NOW + 31 * DAY_MS), ...others);
  }
  expect(later.get('ann')).toBeUndefined();
});

test.skipIf(process.platform === 'win32')(
  'does not wait for the other end of a FIFO in place of a file, and says what it cannot save',
  async () => {
    const dir = under('fifo');
    await cacheAt(dir).put(found({ handle: 'ann' }), 'ann');
    for (const file of filesUnder(dir)) {
      rmSync(file);
      execFileSync('mkfifo', [file]);
    }
    const again = cacheAt(dir);
    expect(again.get('ann')).toBeUndefined();
    expect(again.cache.stats()).toMatchObject({ entries: 0 });
    await again.put(found({ handle: 'x'.repeat(200_000) }), 'ann');
    const { path = '' } = again.cache.stats();
    expect(again.notices).toEqual([
      `answers are not saved for later runs: cannot write in ${path}: it is not a regular file`,
    ]);
    await again.cache.clear();
    await again.put(found(1), 'ann');
    expect(again.get('ann')).toEqual(found(1));
    expect(existsSync(dirname(path))).toBe(true);
  },
);

test('no name and no content of a file has the key, and nobody else can read it', async () => {
  const dir = under('private');
  await cacheAt(dir).put(found({ handle: 'ann' }), 'ann');
  expect(cacheAt(dir, { key: 'other' }).get('ann')).toBeUndefined();
  expect(cacheAt(dir, { baseUrl: 'https://other.example.test' }).get('ann')).toBeUndefined();
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const path = join(dir, name);
    expect(name).not.toContain('planted');
    expect(statSync(path).mode & 0o077).toBe(0);
    if (statSync(path).isFile()) expect(readFileSync(path, 'utf8')).not.toContain('planted');
  }
});

const eachFile = (change: (file: string) => void) => (dir: string) => {
  for (const file of filesUnder(dir)) change(file);
};

function replaceByFolder(file: string): void {
  rmSync(file);
  mkdirSync(file);
}

function replaceByFile(dir: string): void {
  rmSync(dir, { recursive: true });
  writeFileSync(dir, '');
}

/** What becomes of the files under a run, and whether it can save answers then. */
const damages: readonly [what: string, damage: (dir: string) => void, isSaved: boolean][] = [
  ['a deleted folder', (dir) => rmSync(dir, { recursive: true }), true],
  ['a deleted file', eachFile((file) => rmSync(file)), true],
  ['a file that was cut', eachFile((file) => truncateSync(file, 9)), true],
  ['a foreign file', eachFile((file) => writeFileSync(file, '{"live":1}')), true],
  ['a folder in place of a file', eachFile(replaceByFolder), false],
  ['a file in place of the folder', replaceByFile, false],
];

test.each(damages)('survives %s', async (_, damage, isSaved) => {
  const dir = under('damaged');
  const { cache, notices, get, put } = cacheAt(dir);
  await put(found(1), 'ann');
  damage(join(dir, 'answers'));
  expect(get('ann')).toBeUndefined();
  expect(cache.stats()).toMatchObject({ entries: 0, oldest: null });
  for (const record of [2, 3]) await put(found(record), 'ann');
  expect(get('ann')).toEqual(isSaved ? found(3) : undefined);
  expect(notices).toHaveLength(isSaved ? 0 : 1);
});

test('takes over what an earlier key has, and this one does not', async () => {
  const dir = under('inherit');
  await cacheAt(dir, { key: 'before' }).put(found('before'), ...several);
  const { cache, get, put } = cacheAt(dir);
  await put(found('own'), 's0');
  await cache.inherit('before');
  await cache.inherit('never used');
  expect(cache.get(HANDLE, ['s0', 's1', 's255'])).toEqual([
    found('own'),
    found('before'),
    found('before'),
  ]);
  expect(get('s256')).toBeUndefined();
});

test('a clear that was killed is finished by the next one', async () => {
  const dir = under('cleared');
  const { cache, put } = cacheAt(dir);
  await put(found({ id: 'u' }), 'mira');
  const { path = '' } = cache.stats();
  renameSync(path, `${path}.cleared`);
  await cache.clear();
  expect(filesUnder(dir)).toEqual([]);
});
