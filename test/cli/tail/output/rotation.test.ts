import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCompressor } from '../../../../src/cli/tail/output/compress.ts';
import { openFollowed } from '../../../../src/cli/tail/output/followed-file.ts';
import { openOutputFile } from '../../../../src/cli/tail/output/output-file.ts';
import {
  finishedFiles,
  finishedName,
  isFull,
  type RotateRule,
  rotateRule,
} from '../../../../src/cli/tail/output/rotation.ts';
import { fileAt } from '../../../../src/cli/tail/resume/position.ts';
import { readResume } from '../../../../src/cli/tail/resume/resume.ts';
import { createSaver } from '../../../../src/cli/tail/resume/saver.ts';
import { writeCheckpoint } from '../../../../src/tail/output/checkpoint.ts';
import { noWait } from '../../../no-wait.ts';
import { clockOn, createScheduler } from '../../../sim/scheduler.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-rotate-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const lineOf = (id: number, at: number) =>
  `${JSON.stringify({ id: `p${id}`, platformCreatedAt: at, text: 'x'.repeat(40) })}\n`;
const idsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line): string => JSON.parse(line).id);
const textOf = (path: string) =>
  path.endsWith('.gz') ? gunzipSync(readFileSync(path)).toString() : readFileSync(path, 'utf8');

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
    const name = finishedName(out, NOON + 1_234);
    expect(name).toMatch(/theses\.20261122T120001Z\.ndjson$/);
    writeFileSync(`${name}.gz`, '');
    expect(finishedName(out, NOON + 1_234)).toMatch(/theses\.20261122T120001Z-2\.ndjson$/);
  });

  test('ends before the size, with whole lines, and nothing is lost', async () => {
    const out = join(openFolder(), 'theses.ndjson');
    const { file } = await openOutput(out, { bytes: 1_000 });
    for (let id = 0; id < 60; id++) {
      const line = lineOf(id, NOON + id * 1_000);
      // Write the line break separately, as the printer of unparsed records does.
      await file.sink.write(Buffer.from(line.slice(0, -1)));
      if (id % 3 === 0) await file.sink.flush();
      await file.sink.write(Buffer.from('\n'));
      await file.sink.flush();
    }
    await file.sink.end();
    const finished = finishedFiles(out).map(({ path }) => path);
    expect(finished.length).toBeGreaterThan(4);
    for (const path of finished) {
      const text = textOf(path);
      expect([text.length <= 1_100, text.endsWith('\n')]).toEqual([true, true]);
      const [first = ''] = idsIn(text);
      const at = new Date(NOON + Number(first.slice(1)) * 1_000);
      expect(path).toContain(at.toISOString().replace(/\.\d+|[-:]/g, ''));
    }
    const ids = [...finished.reverse().flatMap((path) => idsIn(textOf(path))), ...idsIn(textOf(out))];
    expect(ids).toEqual(Array.from({ length: 60 }, (_, id) => `p${id}`));
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
    await file.sink.end();
  });

  test('of an earlier run is finished by the next one', async () => {
    const out = join(openFolder(), 'theses.ndjson');
    writeFileSync(out, lineOf(1, NOON - 90 * MINUTE));
    utimesSync(out, NOON / 1_000 - 5_400, NOON / 1_000 - 5_400);
    const { file } = await openOutput(out, { everyMs: 60 * MINUTE });
    await file.sink.write(lineOf(2, NOON));
    await file.sink.end();
    expect(idsIn(readFileSync(out, 'utf8'))).toEqual(['p2']);
    expect(finishedFiles(out)).toHaveLength(1);
  });

  test('behind a link is renamed in the folder of its target', async () => {
    const folder = openFolder();
    const [target, out] = [join(folder, 'data.ndjson'), join(openFolder(), 'link.ndjson')];
    symlinkSync(target, out);
    const { file } = await openOutput(out, { bytes: 1_000 });
    for (let id = 0; id < 30; id++) {
      await file.sink.write(lineOf(id, NOON));
      await file.sink.flush();
    }
    await file.sink.end();
    expect(readdirSync(folder).length).toBeGreaterThan(2);
    expect(existsSync(out)).toBe(true);
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
  await file.sink.end();
  expect(idsIn(readFileSync(`${out}.1`, 'utf8'))).toEqual(['p1', 'p2']);
  expect(idsIn(readFileSync(out, 'utf8'))).toEqual(['p3']);
});

test('SIGUSR2 causes an immediate check of the file, until the run ends', async () => {
  const out = join(openFolder(), 'theses.ndjson');
  const acts: (() => void)[] = [];
  const notices: string[] = [];
  const clock = clockOn(
    createScheduler(),
    () => NOON,
    () => true,
  );
  const file = await openOutputFile(
    {
      io: {
        clock,
        onReopen(act: () => void) {
          acts.push(act);
          return () => acts.pop();
        },
      } as never,
      notice: (text) => notices.push(text),
      signal: new AbortController().signal,
      diskWait: noWait,
    },
    out,
    { rotate: undefined, compress: false, timeField: 'platformCreatedAt' },
    () => {},
  );
  const before = file.identity.ino;
  renameSync(out, `${out}.1`);
  acts[0]?.();
  // The clock does not move, so only the signal can have caused the change.
  await expect.poll(() => file.identity.ino === before).toBe(false);
  expect(notices).toEqual([`${out} was renamed: continuing in a new file`]);
  await file.end();
  expect([acts.length, clock.waits]).toEqual([0, 0]);
  await file.sink.end();
});

describe('compression', () => {
  test('replaces finished files, including those of a killed run', async () => {
    const folder = openFolder();
    const out = join(folder, 'theses.ndjson');
    const [done, half] = [finishedName(out, NOON), finishedName(out, NOON + 1_000)];
    writeFileSync(done, lineOf(1, NOON));
    writeFileSync(half, lineOf(2, NOON));
    // The process was killed while it compressed one file, and before it removed the original of another.
    writeFileSync(`${done}.gz.tmp`, 'torn');
    writeFileSync(`${half}.gz`, gzipSync(lineOf(2, NOON)));
    writeFileSync(join(folder, 'other.20261122T120000Z.ndjson'), 'x');
    utimesSync(done, 1_000, 1_000);
    const notices: string[] = [];
    const compressor = createCompressor(out, new AbortController().signal, (text) => notices.push(text));
    compressor.start();
    await compressor.settled();
    expect(notices).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual([
      'other.20261122T120000Z.ndjson',
      'theses.20261122T120000Z.ndjson.gz',
      'theses.20261122T120001Z.ndjson.gz',
    ]);
    expect(finishedFiles(out).map(({ path }) => idsIn(textOf(path)))).toEqual([['p2'], ['p1']]);
  });

  test('stops at a signal without leftovers', async () => {
    const folder = openFolder();
    const out = join(folder, 'theses.ndjson');
    writeFileSync(finishedName(out, NOON), lineOf(1, NOON).repeat(20_000));
    const ending = new AbortController();
    const compressor = createCompressor(out, ending.signal, () => {});
    compressor.start();
    ending.abort();
    await compressor.settled();
    expect(readdirSync(folder)).toEqual(['theses.20261122T120000Z.ndjson']);
  });
});

describe('a tail resumes from all its files', () => {
  /** Two hours of posts, one every ten seconds, in files of about twenty posts. */
  async function written(compress: boolean) {
    const out = join(openFolder(), 'theses.ndjson');
    const { file, clock } = await openOutput(out, { bytes: 2_000 });
    for (let id = 0; id < 125; id++) {
      clock.now = NOON + id * 10_000;
      await file.sink.write(lineOf(id, clock.now));
      await file.sink.flush();
    }
    await file.sink.end();
    for (const [age, { path }] of finishedFiles(out).entries()) {
      const at = (clock.now - (age + 1) * 200_000) / 1_000;
      utimesSync(path, at, at);
    }
    if (compress) {
      const compressor = createCompressor(out, new AbortController().signal, () => {});
      compressor.start();
      await compressor.settled();
    }
    return out;
  }
  const resume = (out: string) =>
    readResume({
      ...{ out, rotates: true, checkpoint: undefined, position: undefined, feed: 'thesis' },
      ...{ timeField: 'platformCreatedAt', now: NOON + 1e7, notice: () => {} },
    });
  const FOUR_MINUTES = 24;
  const newest = (from: number, many: number) => Array.from({ length: many }, (_, i) => `p${from - i}`);

  test.each([
    ['plain', false],
    ['compressed', true],
  ])('which are %s', async (_, compress) => {
    const out = await written(compress);
    const inLast = idsIn(readFileSync(out, 'utf8')).length;
    expect(inLast).toBeLessThan(FOUR_MINUTES);
    const all = await resume(out);
    expect(all?.known.slice(0, 2 * FOUR_MINUTES).map(([id]) => id)).toEqual(newest(124, 2 * FOUR_MINUTES));
    // The third newest line determines the position, because the time of a single post may be wrong.
    expect(all?.floor).toBe(NOON + 1_220_000 - 240_000);
    // If a crash cuts off a part of the last line, the next run removes the rest and requests the post again.
    truncateSync(out, readFileSync(out).length - 10);
    const torn = await resume(out);
    expect([torn?.known[0]?.[0], torn?.known.length]).toEqual(['p123', (all?.known.length ?? 0) - 1]);
    // A crash while files are being changed: the new file is empty or does not exist.
    truncateSync(out, 0);
    const first = 124 - inLast;
    expect((await resume(out))?.known[0]?.[0]).toBe(`p${first}`);
    rmSync(out);
    expect((await resume(out))?.known[0]?.[0]).toBe(`p${first}`);
    expect(existsSync(out)).toBe(false);
  });

  test('and from the current file alone if the others cannot be read', async () => {
    const out = await written(true);
    for (const { path } of finishedFiles(out)) writeFileSync(path, 'not gzip');
    const own = idsIn(readFileSync(out, 'utf8'));
    expect((await resume(out))?.known.map(([id]) => id)).toEqual(own.reverse());
  });
});

test('a tail resumes from renamed files too, even after a kill and several renames', async () => {
  const folder = openFolder();
  const out = join(folder, 'theses.ndjson');
  const position = join(folder, 'position.json');
  const checkpoint = writeCheckpoint({
    ...{ feed: 'thesis', floor: NOON, known: [] },
    watermark: { top: null, base: NOON },
  });
  const saverOf = () =>
    createSaver({
      diskWait: noWait,
      ...{ checkpoint: undefined, out, position, notice() {} },
      identity: () => fileAt(out),
    });
  const move = (name: string, id: number) => {
    renameSync(out, join(folder, name));
    writeFileSync(out, id === 0 ? '' : lineOf(id, NOON + id * 1_000));
  };
  writeFileSync(out, lineOf(1, NOON + 1_000));
  const first = saverOf();
  await first.save(checkpoint);
  move('moved-1', 2);
  first.moved();
  move('moved-2', 3);
  first.moved();
  // The tail was killed, and its file was renamed before the next start.
  move('moved-3', 4);
  await saverOf().save(checkpoint);
  const resumed = await readResume({
    ...{ out, checkpoint: undefined, position, feed: 'thesis', timeField: 'platformCreatedAt' },
    ...{ now: NOON, notice() {} },
  });
  const ids = [...(resumed?.known ?? []), ...(resumed?.lines ?? [])].map(([id]) => id);
  expect([...new Set(ids)].sort()).toEqual(['p1', 'p2', 'p3', 'p4']);
});
