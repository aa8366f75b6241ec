import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FollowedFile } from '../../../src/tail/file/followed-file.ts';
import {
  finishedFiles,
  finishedName,
  isFull,
  type RotateRule,
  rotateRule,
} from '../../../src/tail/file/rotation.ts';
import { openFolder } from '../../folder.ts';

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
  const file = await FollowedFile.open(out, {
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
    expect(finishedName(out, 'platformCreatedAt', NOON)).toMatch(
      /theses\.20261122T120001Z-2\.ndjson$/,
    );
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
