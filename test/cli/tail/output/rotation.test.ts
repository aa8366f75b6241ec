import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openFollowed } from '../../../../src/cli/tail/output/followed-file.ts';
import {
  finishedFiles,
  finishedName,
  isFull,
  type RotateRule,
  rotateRule,
} from '../../../../src/cli/tail/output/rotation.ts';
import { positionPath, readStart, savePosition } from '../../../../src/cli/tail/position-file.ts';
import { openFolder } from '../../../folder.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;

const lineOf = (id: number, at: number) =>
  `${JSON.stringify({ id: `p${id}`, platformCreatedAt: at, text: 'x'.repeat(40) })}\n`;
const idsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line): string => JSON.parse(line).id);
/** An output with a clock that the test controls. */
async function openOutput(out: string, rule: RotateRule | undefined) {
  const clock = { now: NOON };
  const moves: string[] = [];
  const file = await openFollowed(out, {
    mono: () => clock.now,
    now: () => clock.now,
    moved: (how) => moves.push(how),
    rotate: rule && { rule, timeField: 'platformCreatedAt' },
    warn: (text) => moves.push(text),
  });
  return { clock, moves, file };
}

describe('the rule of --rotate', () => {
  test.each([
    ['100MB', { bytes: 1e8 }],
    ['100M', { bytes: 1e8 }],
    ['1.5GiB', { bytes: 1.5 * 2 ** 30 }],
    ['64k', { bytes: 64_000 }],
    ['10m', { everyMs: 10 * MINUTE }],
    ['1d', { everyMs: 1440 * MINUTE }],
    ['1h30m', { everyMs: 90 * MINUTE }],
    ['100', undefined],
    ['10b', undefined],
    ['0MB', undefined],
    ['10ms', undefined],
    ['soon', undefined],
  ])('reads %s as %j', (text, rule) => {
    expect(rotateRule.read(text)).toEqual(rule);
  });

  test('finishes a file at each multiple of a duration in UTC, and never an empty one', () => {
    const hourly: RotateRule = { everyMs: 60 * MINUTE };
    const finished = (lastWriteAt: number, now: number, size = 1) =>
      isFull(hourly, { size, lastWriteAt }, 0, now);
    expect(finished(NOON + 59 * MINUTE, NOON + 60 * MINUTE)).toBe(true);
    expect(finished(NOON, NOON + 59 * MINUTE)).toBe(false);
    expect(finished(NOON, NOON + 600 * MINUTE, 0)).toBe(false);
    // A file that was dated in the future, before the clock was corrected, must not grow forever.
    expect(finished(NOON + 1e12, NOON)).toBe(true);
  });
});

describe('a finished file', () => {
  test('is named by the time of its first post, and replaces no other', () => {
    const out = join(openFolder(), 'theses.ndjson');
    writeFileSync(out, lineOf(1, NOON + 1_234));
    const name = finishedName(out, 'platformCreatedAt', NOON);
    expect(name).toMatch(/theses\.20261122T120001Z\.ndjson$/);
    writeFileSync(`${name}.gz`, '');
    expect(finishedName(out, 'platformCreatedAt', NOON)).toMatch(/theses\.20261122T120001Z-2\.ndjson$/);
  });

  test('is finished in time even if no more posts arrive', async () => {
    const out = join(openFolder(), 'theses.ndjson');
    const { file, clock, moves } = await openOutput(out, { everyMs: 60 * MINUTE });
    await file.sink.write(lineOf(1, NOON));
    await file.sink.flush();
    clock.now += 59 * MINUTE;
    await file.check();
    expect(moves).toEqual([]);
    clock.now += MINUTE;
    await file.check();
    await file.check();
    expect([moves, readFileSync(out, 'utf8')]).toEqual([['finished'], '']);
    await file.sink.finish('complete');
  });

  test('of an earlier run is finished by the next one', async () => {
    const out = join(openFolder(), 'theses.ndjson');
    writeFileSync(out, lineOf(1, NOON - 90 * MINUTE));
    utimesSync(out, NOON / 1_000 - 5_400, NOON / 1_000 - 5_400);
    const { file } = await openOutput(out, { everyMs: 60 * MINUTE });
    await file.sink.write(lineOf(2, NOON));
    await file.sink.finish('complete');
    expect(idsIn(readFileSync(out, 'utf8'))).toEqual(['p2']);
    expect(finishedFiles(out)).toHaveLength(1);
  });
});

test('a file that was renamed in the middle of a line receives the rest of that line', async () => {
  const out = join(openFolder(), 'theses.ndjson');
  const { file, clock } = await openOutput(out, undefined);
  await file.sink.write(lineOf(1, NOON).slice(0, -1));
  await file.sink.flush();
  renameSync(out, `${out}.1`);
  clock.now += 1_000;
  await file.check();
  await file.sink.write('\n');
  await file.sink.write(lineOf(2, NOON));
  await file.sink.flush();
  clock.now += 1_000;
  await file.sink.write(lineOf(3, NOON));
  await file.sink.finish('complete');
  expect(idsIn(readFileSync(`${out}.1`, 'utf8'))).toEqual(['p1', 'p2']);
  expect(idsIn(readFileSync(out, 'utf8'))).toEqual(['p3']);
});

const FEED = 'thesis';
const reading = { checkpoint: undefined, feed: FEED, timeField: 'platformCreatedAt' };
const resume = (out: string) => readStart({ ...reading, out, notice() {} });
const resumedIds = (out: string) => resume(out)?.ids.map(([id]) => id);

describe('a tail with finished files', () => {
  /** Twenty minutes of posts, one every ten seconds, in files of about twenty posts; the position is saved at `at`. */
  async function written(at: number) {
    const out = join(openFolder(), 'theses.ndjson');
    const { file, clock } = await openOutput(out, { bytes: 2_000 });
    for (let id = 0; id < 125; id++) {
      clock.now = NOON + id * 10_000;
      await file.sink.write(lineOf(id, clock.now));
      await file.sink.flush();
      if (id !== at) continue;
      const base = { feed: FEED, start: null, verified: NOON, lowest: null, ids: [] };
      savePosition(positionPath({ ...reading, out }) ?? '', { ...base, file: file.place() });
    }
    await file.sink.finish('complete');
    for (const [age, { path }] of finishedFiles(out).entries()) {
      const modified = (clock.now - (age + 1) * 200_000) / 1_000;
      utimesSync(path, modified, modified);
    }
    return out;
  }
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `p${from + i}`);

  test.each([0, 17, 60, 110, 124])('knows every post that was written since post %d', async (at) => {
    const out = await written(at);
    expect(new Set(resumedIds(out))).toEqual(new Set(range(at + 1, 125)));
  });

  test('requests a post again whose line a crash cut off, and continues without the newest file', async () => {
    const out = await written(60);
    const inLast = idsIn(readFileSync(out, 'utf8')).length;
    truncateSync(out, readFileSync(out).length - 10);
    expect(new Set(resumedIds(out))).toEqual(new Set(range(61, 124)));
    // A crash while files are being changed: the new file is empty or does not exist.
    truncateSync(out, 0);
    expect(new Set(resumedIds(out))).toEqual(new Set(range(61, 125 - inLast)));
    rmSync(out);
    expect(new Set(resumedIds(out))).toEqual(new Set(range(61, 125 - inLast)));
    expect(existsSync(out)).toBe(false);
  });
});

test.each([
  ['before more posts', 1],
  ['after its last post', 0],
])('a file that another program renamed %s is still read', (_, more) => {
  const out = join(openFolder(), 'theses.ndjson');
  writeFileSync(out, lineOf(1, NOON));
  const { dev, ino } = statSync(out);
  const file = { dev: String(dev), ino: String(ino), offset: statSync(out).size };
  const base = { feed: FEED, start: null, verified: NOON, lowest: null };
  savePosition(`${out}.trdr`, { ...base, ids: [['p1', NOON]], file });
  writeFileSync(out, lineOf(2, NOON + 1_000), { flag: 'a' });
  renameSync(out, `${out}.1`);
  if (more > 0) writeFileSync(out, lineOf(3, NOON + 2_000));
  expect(new Set(resumedIds(out))).toEqual(new Set(more > 0 ? ['p1', 'p2', 'p3'] : ['p1', 'p2']));
});
