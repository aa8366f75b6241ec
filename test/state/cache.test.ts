import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CachedAnswer } from '../../src/contract/ports/answers.ts';
import { openCache } from '../../src/state/cache.ts';
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
  const cache = openCache({
    dir,
    baseUrl,
    key,
    now: () => now,
    notice: (text) => notices.push(text),
  });
  return { cache, notices };
}
const found = (record: unknown, time = NOW): CachedAnswer => ({ status: 200, time, record });

/** All files under a folder with their contents. */
function filesUnder(dir: string): { file: string; text: string }[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
}

test('ignores an answer from the future, saved while the clock was wrong', () => {
  const dir = under('future');
  cacheAt(dir, { now: NOW + 1e9 }).cache.put(HANDLE, 'ann', found(1, NOW + 1e9));
  const { cache } = cacheAt(dir);
  expect(cache.get(HANDLE, 'ann')).toBeUndefined();
  cache.put(HANDLE, 'ann', found(2));
  expect(cache.get(HANDLE, 'ann')).toEqual(found(2));
});

test('removes what is older than 30 days', () => {
  const dir = under('old');
  const old = new Date(NOW - 31 * DAY_MS);
  cacheAt(dir, { key: 'gone' }).cache.put(HANDLE, 'ann', found(1));
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    utimesSync(join(dir, name), old, old);
  }
  cacheAt(dir, { key: 'used' }).cache.put(HANDLE, 'ann', found(1));
  expect(readdirSync(join(dir, 'answers'))).toHaveLength(1);
  for (let at = 0; at < 256; at++) cacheAt(dir).cache.put(HANDLE, `s${at}`, found(1));
  const mine = cacheAt(dir).cache;
  const files = filesUnder(mine.stats().path ?? '').filter(({ text }) => text.startsWith('['));
  const [kept, ...aged] = files;
  for (const { file } of aged) utimesSync(file, old, old);
  // Each run removes the old files of one folder, which depends on its time.
  for (let at = 0; at < 256; at++)
    cacheAt(dir, { now: NOW + at }).cache.put(HANDLE, 'new', found(1));
  expect(mine.stats().entries).toBe(2);
  expect(existsSync(kept?.file ?? '')).toBe(true);
});

test.skipIf(process.platform === 'win32')(
  'does not wait for the writer of a FIFO in place of a file',
  () => {
    const dir = under('fifo');
    const { cache } = cacheAt(dir);
    cache.put(HANDLE, 'ann', found({ handle: 'ann' }));
    for (const { file } of filesUnder(dir)) {
      rmSync(file);
      execFileSync('mkfifo', [file]);
    }
    const again = cacheAt(dir).cache;
    expect(again.get(HANDLE, 'ann')).toBeUndefined();
    expect(again.stats()).toMatchObject({ entries: 0 });
    again.put(HANDLE, 'ann', found({ handle: 'ann' }));
  },
);
