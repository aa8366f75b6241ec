import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../src/base/json.ts';
import { type Entry, KeyedLog } from '../../src/state/keyed-log.ts';
import { anyText, room, runs } from './room.ts';

const { under } = room();

const put = (log: KeyedLog, key: string, ...entry: unknown[]) =>
  log.append(new Map<string, Entry>([[key, entry]]));
const read = (log: KeyedLog, keys: Iterable<string>) => log.read(keys, (entry) => entry);
const sizeOf = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
const onlyFileIn = (folder: string) => join(folder, readdirSync(folder)[0] ?? '');

test('returns the last entry of each key, whatever the texts are', () => {
  const key = fc.oneof(fc.constantFrom('a', 'b', '["a",', 'a"'), anyText);
  const change = fc.tuple(key, fc.jsonValue());
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const log = new KeyedLog(under('any'));
      const expected = new Map<string, unknown>();
      for (const [name, value] of changes) {
        put(log, name, value);
        expected.set(name, JSON.parse(JSON.stringify(value)));
      }
      const found = [...read(log, expected.keys())].map(([name, [value]]) => [name, value]);
      expect(new Map(found as [string, unknown][])).toEqual(expected);
      expect(new Map([...log.all()].map(([name, [value]]) => [name, value]))).toEqual(expected);
    }),
    runs(60),
  );
});

test('passes over a last line that a crash cut anywhere, and continues behind it', () => {
  const folder = under('cut');
  const log = new KeyedLog(folder);
  put(log, 'key', 'first');
  const file = onlyFileIn(folder);
  const whole = statSync(file).size;
  put(log, 'key', 'second');
  for (let size = statSync(file).size - 1; size >= whole; size--) {
    truncateSync(file, size);
    expect(read(log, ['key']).get('key')).toEqual(['first']);
  }
  appendFileSync(file, '["key","torn');
  put(log, 'key', 'third');
  expect(read(log, ['key']).get('key')).toEqual(['third']);
});

test('passes over a last line that was cut if many keys are read at once', () => {
  const folder = under('many');
  const log = new KeyedLog(folder);
  const keys = Array.from({ length: 3_000 }, (_, index) => `wallet ${index}`.padEnd(40, 'x'));
  const all = (entry: string) => new Map(keys.map((key): [string, Entry] => [key, [entry]]));
  log.append(all('first'));
  const file = onlyFileIn(folder);
  const whole = statSync(file).size;
  const before = read(log, keys);
  log.append(all('second'));
  expect(before).toEqual(all('first'));
  expect(read(log, keys)).toEqual(all('second'));
  const lines = readFileSync(file, 'utf8');
  const own = keys.filter((key) => lines.includes(`"${key}"`));
  expect(own.length).toBeGreaterThan(2);
  for (let size = statSync(file).size - 1; size >= whole; size--) {
    truncateSync(file, size);
    expect([...read(log, own).keys()]).toEqual(own);
  }
});

test('stays within a small multiple of what is live, and loses nothing when it compacts', () => {
  const folder = under('compact');
  const log = new KeyedLog(folder);
  const text = 'x'.repeat(1_000);
  for (let round = 0; round < 200; round++) put(log, 'often', round, text);
  put(log, 'once', 'kept');
  for (let round = 0; round < 200; round++) put(log, 'often', round, text);
  expect(sizeOf(folder)).toBeLessThan(40_000);
  const kept = Object.fromEntries(read(log, ['often', 'once']));
  expect(kept).toEqual({ often: [199, text], once: ['kept'] });
});

test('does not write the first entries of a file twice', () => {
  const folder = under('first');
  put(new KeyedLog(folder), 'page', 'x'.repeat(100_000));
  expect(readFileSync(onlyFileIn(folder), 'utf8')).toMatch(/^\["page",/);
});

test('keeps digits beyond the precision of a double', () => {
  const folder = under('digits');
  put(new KeyedLog(folder), 'key', { amount: 1 });
  appendFileSync(onlyFileIn(folder), '["key",{"amount":12345678901234567890.10}]\n');
  const log = new KeyedLog(folder);
  log.append(new Map([['key', read(log, ['key']).get('key') ?? []]]));
  expect(stringifyJson(read(log, ['key']).get('key'))).toBe('[{"amount":12345678901234567890.10}]');
});

test('a file that is not a file, or has other content, counts as empty', () => {
  const folder = under('odd');
  const log = new KeyedLog(folder);
  put(log, 'key', 1);
  const file = onlyFileIn(folder);
  truncateSync(file, 0);
  appendFileSync(file, '\0\0\0\n["key"\n[]\nnonsense\n');
  expect(read(log, ['key']).size).toBe(0);
  expect([...log.all()]).toEqual([]);
});
