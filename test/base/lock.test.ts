import {
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { holdLock, isHeld, tryLock, withLock } from '../../src/base/lock.ts';
import { repeats } from '../repeats.ts';
import { anyText, room, runs, workers } from '../state/room.ts';

const { path, under } = room();
const worker = workers(path);
/** After this time, a lock of another machine counts as abandoned. */
const UNTOUCHED_MS = 300_000;
/** The number of processes that want one lock. */
const CROWD = repeats('LOCK_CROWD', 3, 8);

/** The text of a lock: of this process, or with other fields. */
function textOfLock(
  change: {
    readonly token?: string;
    readonly pid?: number;
    readonly began?: string;
    readonly place?: string;
  } = {},
): string {
  const lock = under(`own-${Math.random()}`);
  mkdirSync(dirname(lock), { recursive: true });
  const held = tryLock(lock);
  const [token, pid, began, since, ...place] = readlinkSync(lock).split('|');
  if (isHeld(held)) held.release();
  return Object.values({ token, pid, began, since, place: place.join('|'), ...change }).join('|');
}

/** Creates the lock of a process that has ended. */
const leaveBehind = (lock: string, change: Parameters<typeof textOfLock>[0] = {}) =>
  symlinkSync(textOfLock({ pid: 4_194_303, began: '1', ...change }), lock);

test('processes that increment a number under the lock lose nothing', async () => {
  const file = under('number');
  writeFileSync(file, '0');
  await Promise.all(Array.from({ length: CROWD }, () => worker(['count', file, 50])));
  expect(readFileSync(file, 'utf8')).toBe(`${50 * CROWD}`);
});

test('exactly one of several processes takes over a stale lock', async () => {
  const file = under('claims');
  const rounds = repeats('LOCK_ROUNDS', 100, 200);
  for (let round = 0; round < rounds; round++) leaveBehind(`${file}.${round}.lock`);
  const crowd = Array.from({ length: CROWD }, () =>
    worker(['claim', file, rounds], { stdin: 'pipe' }),
  );
  const all = () =>
    Promise.all(crowd.map((one) => new Promise((resolve) => one.stdout?.once('data', resolve))));
  await all();
  const claimed = all();
  for (const one of crowd) one.stdin?.write('go\n');
  await claimed;
  // Let no process end before all have tried to get the lock, because the locks of ended processes are stale.
  for (const one of crowd) one.stdin?.end();
  await Promise.all(crowd);
  const claims = readFileSync(file, 'utf8').trim().split('\n').map(Number);
  expect(claims.sort((a, b) => a - b)).toEqual(Array.from({ length: rounds }, (_, round) => round));
});

/** Gives a file the time of the test, because that of the machine may be another. */
function touchNow(path: string): void {
  const now = new Date();
  lutimesSync(path, now, now);
}

test('the text of a lock fits into its inode, and that of a long one names its machine', async () => {
  const short = under('short');
  await withLock(short, () => {
    expect(Buffer.byteLength(readlinkSync(short))).toBeLessThan(60);
  });
  const long = under('long');
  const held = holdLock(long, 'it');
  expect(readlinkSync(long)).toContain(hostname());
  held.release();
  symlinkSync(textOfLock({ place: 'elsewhere/there' }), long);
  touchNow(long);
  expect(() => holdLock(long, 'it')).toThrow(/locked by process \d+ on there since/);
});

test('the lock of a killed process can be acquired', async () => {
  const lock = under('held');
  const first = worker(['hold', lock, 0, 'the export'], { reject: false });
  await new Promise((resolve) => first.stdout?.once('data', resolve));
  expect(() => holdLock(lock, 'the export')).toThrow(
    `the export is in use: locked by process ${first.pid}`,
  );
  first.kill('SIGKILL');
  await first;
  const held = holdLock(lock, 'the export');
  held.release();
  held.release();
  expect(readdirSync(dirname(lock)).filter((name) => name.includes('held'))).toEqual([]);
});

test('a process that dies while taking over a lock does not block it', () => {
  const lock = under('chain');
  leaveBehind(lock, { token: 'first' });
  leaveBehind(`${lock}.first`, { token: 'second' });
  leaveBehind(`${lock}.first.second`, { token: 'third' });
  let result = tryLock(lock);
  for (let tries = 0; tries < 4 && !isHeld(result); tries++) result = tryLock(lock);
  expect(isHeld(result)).toBe(true);
});

test.each([
  ['process', process.pid],
  ['user', 1],
])('a pid that was reused by another %s does not block a lock', (_, pid) => {
  const lock = under(`reused-${pid}`);
  leaveBehind(lock, { pid, began: '7' });
  expect(isHeld(tryLock(lock))).toBe(true);
});

test.each([
  ['of another machine', textOfLock({ place: 'not-this-machine' })],
  ['that is incomplete', '123-'],
])('a lock %s is valid as long as it is refreshed', (_, text) => {
  const lock = under('elsewhere');
  writeFileSync(lock, text);
  touchNow(lock);
  expect(isHeld(tryLock(lock))).toBe(false);
  const long = new Date(Date.now() - 2 * UNTOUCHED_MS);
  utimesSync(lock, long, long);
  expect(isHeld(tryLock(lock))).toBe(true);
});

test.each(['my own notes', '{"lockfileVersion":3}', 'one\ntwo\n'])(
  'a file that contains %j at the path of a lock is never changed, however old it is',
  (text) => {
    const lock = under('foreign');
    writeFileSync(lock, text);
    const long = new Date(Date.now() - 100 * UNTOUCHED_MS);
    utimesSync(lock, long, long);
    expect(() => holdLock(lock, 'F.csv')).toThrow(
      `cannot lock F.csv: ${lock} exists, but is not a lock of trdr`,
    );
    expect(readFileSync(lock, 'utf8')).toBe(text);
  },
);

test('waiting for a lock ends at its timeout, and at once when cancelled', async () => {
  const lock = under('busy');
  const held = holdLock(lock, 'it');
  let waited = 0;
  const sleep = async (ms: number) => {
    waited += ms;
  };
  await expect(withLock(lock, () => 1, { timeoutMs: 300, sleep })).rejects.toMatchObject({
    code: 'LOCKED',
  });
  expect(waited).toBeGreaterThanOrEqual(300);
  const stop = AbortSignal.abort(new Error('called off'));
  await expect(withLock(lock, () => 1, { signal: stop })).rejects.toThrow('called off');
  held.release();
  await expect(withLock(lock, () => 2)).resolves.toBe(2);
});

test('a file with any text at the path of a lock is never taken for a free lock', () => {
  const lock = under('any');
  mkdirSync(dirname(lock), { recursive: true });
  fc.assert(
    fc.property(
      fc.oneof(
        anyText,
        anyText.map((text) => `a-1|${text}`),
      ),
      (text) => {
        writeFileSync(lock, text);
        touchNow(lock);
        expect(isHeld(tryLock(lock))).toBe(false);
      },
    ),
    runs(500),
  );
});
