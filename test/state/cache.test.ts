import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerLine, cacheKey, readAnswer } from '../../src/state/bucket.ts';
import { type BucketAnswer, openCache } from '../../src/state/cache.ts';
import { BUCKET_BYTES, compact, FORGET_MS } from '../../src/state/compact.ts';
import { anyText, room, runs, workers } from './room.ts';

const { path, under } = room();
const worker = workers(path);
const KEY = 'trdr_live_planted0secret';
const NOW = 1_700_000_000_000;
const HANDLE = 'user.handle';

function cacheAt(
  dir: string | undefined,
  { key = KEY, baseUrl = 'https://api.example.test', now = NOW } = {},
) {
  const notices: string[] = [];
  const cache = openCache({ dir, baseUrl, key, now: () => now, notice: (text) => notices.push(text) });
  return { cache, notices };
}
const found = (record: unknown, time = NOW): BucketAnswer => ({ status: 200, time, record });

/** All files under a folder with their contents. */
function filesUnder(dir: string): { file: string; text: string }[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
}
const onlyBucket = (dir: string) => filesUnder(dir).find(({ file }) => file.endsWith('.ndjson'))?.file ?? '';

/** Subjects that share the first bucket. */
const crowded = (count: number): string[] => {
  const subjects: string[] = [];
  for (let at = 0; subjects.length < count; at++) {
    if (cacheKey(HANDLE, `s${at}`).hash % 1024 === 0) subjects.push(`s${at}`);
  }
  return subjects;
};

test('finds answers by endpoint and subject, in this process and the next', () => {
  const dir = under('found');
  const { cache } = cacheAt(dir);
  expect(cache.get(HANDLE, 'ann')).toBeUndefined();
  cache.put(HANDLE, 'ann', found({ handle: 'Ann', n: 1.5, nil: null }));
  cache.put(HANDLE, 'bob', { status: 404, time: NOW, record: undefined });
  for (const { get } of [cache, cacheAt(dir).cache]) {
    expect(get(HANDLE, 'ann')).toEqual(found({ handle: 'Ann', n: 1.5, nil: null }));
    expect(get(HANDLE, 'bob')).toEqual({ status: 404, time: NOW, record: null });
    expect(get('user.wallet', 'ann')).toBeUndefined();
  }
});

test('returns the newest answer of any process', () => {
  const dir = under('newest');
  const [one, other] = [cacheAt(dir).cache, cacheAt(dir).cache];
  one.put(HANDLE, 'ann', found(1));
  expect(other.get(HANDLE, 'ann')).toEqual(found(1));
  one.put(HANDLE, 'ann', found(2));
  expect(other.get(HANDLE, 'ann')).toEqual(found(2));
});

test.each([
  ['small', 10],
  ['large', 60_000],
])('notices every change of a %s bucket by another process', (_, filler) => {
  const dir = under(`changes-${filler}`);
  const [one = '', other = ''] = crowded(2);
  const { cache: reader } = cacheAt(dir);
  const get = () => reader.get(HANDLE, one)?.record;
  const put = (record: string) => cacheAt(dir).cache.put(HANDLE, one, found(record));
  cacheAt(dir).cache.put(HANDLE, other, found('x'.repeat(filler)));
  expect(get()).toBeUndefined();
  put('appended');
  expect(get()).toBe('appended');
  const file = onlyBucket(dir);
  writeFileSync(file, readFileSync(file, 'utf8').replace('appended', 'reworded'));
  utimesSync(file, 1, 1);
  expect(get()).toBe('reworded');
  put('repeated');
  expect(get()).toBe('repeated');
  compact(file, NOW);
  expect(get()).toBe('repeated');
  put('appended after a compaction');
  expect(get()).toBe('appended after a compaction');
  cacheAt(dir).cache.clear();
  expect(get()).toBeUndefined();
  put('new');
  expect(get()).toBe('new');
});

test('ignores an answer from the future, saved while the clock was wrong', () => {
  const dir = under('future');
  cacheAt(dir, { now: NOW + 1e9 }).cache.put(HANDLE, 'ann', found(1, NOW + 1e9));
  const { cache } = cacheAt(dir);
  expect(cache.get(HANDLE, 'ann')).toBeUndefined();
  cache.put(HANDLE, 'ann', found(2));
  expect(cache.get(HANDLE, 'ann')).toEqual(found(2));
});

test('separates answers by base URL and key, without revealing the key on disk', () => {
  const dir = under('bound');
  cacheAt(dir).cache.put(HANDLE, 'ann', found({ handle: 'ann' }));
  expect(cacheAt(dir, { key: 'trdr_live_other' }).cache.get(HANDLE, 'ann')).toBeUndefined();
  expect(cacheAt(dir, { baseUrl: 'https://other.test' }).cache.get(HANDLE, 'ann')).toBeUndefined();
  for (const { file, text } of filesUnder(dir)) {
    expect(file + text).not.toContain('planted');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
});

test('saves nothing but answers', () => {
  const dir = under('only');
  const { cache } = cacheAt(dir);
  const odd = JSON.parse('{"status":429,"time":1,"record":null}');
  cache.put(HANDLE, 'ann', odd);
  cache.put(HANDLE, 'ann', found('x'.repeat(300_000)));
  expect(cache.stats()).toMatchObject({ entries: 0, oldest: null, newest: null });
});

test('keeps the complete lines of a bucket that was cut off, and accepts new lines', () => {
  const dir = under('torn');
  const [first = '', second = '', third = ''] = crowded(3);
  const { cache } = cacheAt(dir);
  cache.put(HANDLE, first, found('één'));
  cache.put(HANDLE, second, found('two'));
  const file = onlyBucket(dir);
  const whole = readFileSync(file);
  const ends = [whole.indexOf('\n'), whole.length - 1];
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(file, whole.subarray(0, length));
    const { cache: next } = cacheAt(dir);
    next.put(HANDLE, third, found('three'));
    expect(next.get(HANDLE, first)?.record).toBe(length >= (ends[0] ?? 0) ? 'één' : undefined);
    expect(next.get(HANDLE, second)?.record).toBe(length >= (ends[1] ?? 0) ? 'two' : undefined);
    expect(next.get(HANDLE, third)?.record).toBe('three');
  }
});

test('loses no answer while six processes write to a bucket that is compacted', async () => {
  const dir = under('crowd');
  const subjects = crowded(6 * 30);
  const list = under('subjects');
  writeFileSync(list, JSON.stringify(subjects));
  await Promise.all(Array.from({ length: 6 }, (_, who) => worker(['cache', dir, 6, list, who])));
  const cache = openCache({ dir, baseUrl: 'b', key: 'k', now: () => NOW });
  for (const subject of subjects) expect(cache.get(HANDLE, subject)?.record).toMatchObject({ round: 5 });
  expect(statSync(onlyBucket(dir)).size).toBeLessThan(3 * BUCKET_BYTES);
});

test('removes replaced, old and surplus answers from a bucket', () => {
  const dir = under('growth');
  const subjects = crowded(400);
  const { cache } = cacheAt(dir);
  const record = 'x'.repeat(4_000);
  cache.put(HANDLE, 'old', found(record, NOW - FORGET_MS - 1));
  for (let round = 0; round < 3; round++) {
    for (const [at, subject] of subjects.entries()) cache.put(HANDLE, subject, found(record, NOW + at));
  }
  expect(statSync(onlyBucket(dir)).size).toBeLessThan(2 * BUCKET_BYTES + 5_000);
  expect(cache.get(HANDLE, subjects.at(-1) ?? '')).toBeDefined();
  for (const subject of subjects.slice(-100)) {
    expect(cacheAt(dir).cache.get(HANDLE, subject)?.record).toBe(record);
  }
});

test('survives a crash during a compaction', () => {
  const dir = under('crash');
  const { cache } = cacheAt(dir);
  const [one = '', ...others] = crowded(20);
  cache.put(HANDLE, one, found('kept'));
  writeFileSync(`${onlyBucket(dir)}.tmp`, 'half');
  for (let round = 0; round < 4; round++) {
    for (const other of others) cache.put(HANDLE, other, found('x'.repeat(9_000)));
  }
  expect(cacheAt(dir).cache.get(HANDLE, one)).toEqual(found('kept'));
  expect(cacheAt(dir).cache.stats().entries).toBe(20);
  expect(statSync(onlyBucket(dir)).size).toBeLessThan(500_000);
});

test('reports once that nothing can be saved', () => {
  const { cache, notices } = cacheAt('/dev/null/none');
  cache.put(HANDLE, 'ann', found(1));
  cache.put(HANDLE, 'ann', found(1));
  expect(cache.get(HANDLE, 'ann')).toBeUndefined();
  expect(notices).toEqual([expect.stringContaining('not saved for later runs')]);
  const homeless = cacheAt(undefined);
  homeless.cache.put(HANDLE, 'ann', found(1));
  homeless.cache.clear();
  expect(homeless.cache.get(HANDLE, 'ann')).toBeUndefined();
  expect(homeless.cache.stats()).toMatchObject({ path: undefined, entries: 0 });
  expect(homeless.cache.listHandles('', 5)).toEqual([]);
});

test('clears the answers of one key, or of all, and nothing else', () => {
  const dir = under('clear');
  const [one, other] = [cacheAt(dir).cache, cacheAt(dir, { key: 'other' }).cache];
  one.put(HANDLE, 'ann', found({ handle: 'ann' }));
  other.put(HANDLE, 'ann', found(1));
  writeFileSync(join(dir, 'theirs'), '');
  one.clear();
  expect([one.get(HANDLE, 'ann'), one.listHandles('', 9)]).toEqual([undefined, []]);
  expect(other.get(HANDLE, 'ann')).toBeDefined();
  one.put(HANDLE, 'ann', found(2));
  one.clear(true);
  expect(other.get(HANDLE, 'ann')).toBeUndefined();
  expect(readdirSync(dir)).toEqual(['theirs']);
});

test('removes the folders of unused keys', () => {
  const dir = under('unused');
  cacheAt(dir, { key: 'gone' }).cache.put(HANDLE, 'ann', found(1));
  cacheAt(dir, { key: 'used' }).cache.put(HANDLE, 'ann', found(1));
  const long = new Date(NOW - 2 * FORGET_MS);
  for (const { file } of filesUnder(dir)) utimesSync(file, new Date(NOW), new Date(NOW));
  utimesSync(onlyBucket(dir), long, long);
  cacheAt(dir, { key: 'third' }).cache.put(HANDLE, 'ann', found(1));
  expect(readdirSync(join(dir, 'answers'))).toHaveLength(2);
});

test('counts each subject once', () => {
  const dir = under('stats');
  const { cache } = cacheAt(dir);
  cache.put(HANDLE, 'ann', found(1, NOW - 5));
  cache.put(HANDLE, 'ann', found(2, NOW));
  cache.put('user.id', 'ann', { status: 404, time: NOW + 7, record: null });
  expect(cache.stats()).toMatchObject({ entries: 2, found: 1, missing: 1, oldest: NOW, newest: NOW + 7 });
});

test.skipIf(process.platform === 'win32')('does not wait for the writer of a FIFO in place of a file', () => {
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
  expect(again.listHandles('', 9)).toEqual([]);
  again.put(HANDLE, 'ann', found({ handle: 'ann' }));
});

test('completes handles by prefix, latest first, without characters that a shell would interpret', () => {
  const { cache } = cacheAt(under('handles'));
  for (const handle of ['anna', 'Bob', 'Ann', 'an;rm', 'an\nx', 'anna']) {
    cache.put('user.id', handle, found({ handle }));
  }
  expect(cache.listHandles('@aN', 9)).toEqual(['anna', 'Ann']);
  expect(cache.listHandles('', 2)).toEqual(['anna', 'Ann']);
});

test('limits the list of handles to the latest', () => {
  const dir = under('many');
  const { cache } = cacheAt(dir);
  cache.put(HANDLE, 'a', found({ handle: 'first' }));
  const file = filesUnder(dir).find((one) => one.file.endsWith('handles'))?.file ?? '';
  appendFileSync(file, Array.from({ length: 30_000 }, (_, at) => `filler${at}\n`).join(''));
  cache.put(HANDLE, 'a', found({ handle: 'last' }));
  expect(statSync(file).size).toBeLessThan(100_000);
  expect(cache.listHandles('', 2)).toEqual(['last', 'filler29999']);
});

test('reads any text as an answer or nothing, and reads back what it wrote', () => {
  fc.assert(
    fc.property(anyText, anyText, fc.jsonValue(), fc.integer(), (endpoint, subject, record, time) => {
      const line = answerLine(cacheKey(endpoint, subject), { status: 200, time, record });
      expect(readAnswer(line)).toEqual({ status: 200, time, record: JSON.parse(JSON.stringify(record)) });
      expect(line).not.toContain('\n');
    }),
    runs(300),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      const answer = readAnswer(text);
      if (answer) expect([200, 404]).toContain(answer.status);
    }),
    runs(500),
  );
});

test('works with any contents of a bucket', () => {
  const dir = under('garbage');
  const { cache } = cacheAt(dir);
  cache.put(HANDLE, 'ann', found(1));
  const file = onlyBucket(dir);
  const { prefix } = cacheKey(HANDLE, 'ann');
  const pieces = fc.array(
    fc.oneof(
      anyText,
      fc.constantFrom(prefix, `${prefix}200,1,2]`, '\n', '["live",5]\n', prefix.slice(0, 12)),
    ),
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      writeFileSync(file, parts.join(''));
      cache.get(HANDLE, 'ann');
      cache.put(HANDLE, 'ann', found('new'));
      expect(cache.get(HANDLE, 'ann')?.record).toBe('new');
      cache.stats();
    }),
    runs(150),
  );
});
