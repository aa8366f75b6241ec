import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeResume, readTailFile } from '../../../src/tail/output/out-file.ts';
import { timing } from '../../../src/tail/timing.ts';
import type { Resume } from '../../../src/tail/walk/bounds.ts';

const form = { timeField: 'platformCreatedAt', now: 1e9 };
const DEPTH = timing.marginMs + timing.holdMs;
const line = (id: string, at: number | null, text = '') =>
  `${JSON.stringify({ id, platformCreatedAt: at, thesis: text })}\n`;
const fileOf = (text: string | Buffer) => {
  const bytes = Buffer.from(text);
  return { size: bytes.length, read: async (from: number, to: number) => bytes.subarray(from, to) };
};
const read = (text: string | Buffer, wanted?: number) => readTailFile(fileOf(text), form, timing, wanted);
const ids = (resume: Resume | undefined) => new Set(resume?.known.map(([id]) => id));

describe('the end of an output file', () => {
  test('has no position if the file is empty', async () => {
    expect(await read('')).toEqual({ keep: 0, resume: undefined, young: true });
  });

  test('keeps the complete lines and their ids when truncated at any byte', async () => {
    const lines = Array.from({ length: 5 }, (_, i) => line(`t${i}`, 1_000 * i, 'é \\" {} 💬'));
    const whole = Buffer.from(lines.join(''));
    const ends = lines.map((_, i) => Buffer.byteLength(lines.slice(0, i + 1).join('')));
    for (let cut = 0; cut <= whole.length; cut++) {
      const { keep, resume } = await read(whole.subarray(0, cut));
      const left = ends.filter((end) => end <= cut);
      expect(keep).toBe(left.at(-1) ?? 0);
      expect(ids(resume)).toEqual(new Set(left.map((_, i) => `t${i}`)));
    }
  });

  test('is read the same in pieces and as a whole', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 90_000 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(500), async (lengths, torn) => {
        const lines = lengths.map((length, i) => line(`t${i}`, i, 'x'.repeat(length)));
        const text = `${lines.join('')}${'y'.repeat(torn)}`;
        const { keep, resume } = await read(text);
        expect(keep).toBe(text.length - torn);
        expect(ids(resume)).toEqual(new Set(lines.map((_, i) => `t${i}`)));
      }),
      { numRuns: 30 },
    );
  });

  test('is read back as far as a walk goes, including late lines after newer ones', async () => {
    const lines: string[] = [];
    for (let i = 0; i < 3_000; i++) lines.push(line(`t${i}`, 1_000 * i));
    const newest = 2_999_000;
    // An audit found a hundred late posts.
    for (let i = 0; i < 100; i++) lines.push(line(`late${i}`, newest - DEPTH + 1_000 * i));
    const { resume } = await read(lines.join(''));
    const floor = resume?.floor ?? 0;
    expect(floor).toBeGreaterThanOrEqual(newest - DEPTH - 5_000);
    expect(resume?.watermark.base).toBe(floor + timing.marginMs);
    for (let i = Math.ceil(floor / 1_000); i < 3_000; i++) expect(ids(resume).has(`t${i}`)).toBe(true);
    for (let i = 0; i < 100; i++) expect(ids(resume).has(`late${i}`)).toBe(true);
    expect(resume?.known.length).toBeLessThan(2_100);
  });

  test('starts at the oldest line of a short file, because older posts were not requested', async () => {
    const { resume } = await read(line('a', 5_000) + line('b', 4_000) + line('c', 9_000));
    expect(resume?.floor).toBe(4_000);
  });

  test('rejects a line that is not a record with an id', async () => {
    await expect(read(`${line('a', 1)}hello\n`)).rejects.toThrow(/not a record with an id/);
    await expect(read(`{"handle":"mira"}\n`)).rejects.toThrow(/not a record with an id/);
    for (const other of ['5', 'null', '"a"', '[]', '{"id":7}']) {
      const refused = read(`${line('a', 1)}${other}\n`);
      await expect(refused).rejects.toMatchObject({ kind: 'local', code: 'TAIL_FILE' });
    }
  });

  test('ignores empty lines', async () => {
    const text = `\n\n${line('a', 5_000)}\n  \n${line('b', 6_000)}\n`;
    const { keep, resume } = await read(text);
    expect(keep).toBe(text.length);
    expect(resume?.known).toEqual([
      ['b', 6_000],
      ['a', 5_000],
    ]);
    expect(await read('\n\n')).toEqual({ keep: 2, resume: undefined, young: true });
  });

  test('is read the same for any line lengths', async () => {
    const empty = line('t2', 2).length;
    for (let length = 65_530; length <= 65_540; length++) {
      const lines = [line('t0', 0), line('t1', 1), line('t2', 2, 'x'.repeat(length - empty))];
      for (const torn of ['', 'y', 'y'.repeat(65_536), 'y'.repeat(140_000)]) {
        const { keep, resume } = await read(lines.join('') + torn);
        expect(keep).toBe(lines.join('').length);
        expect(resume?.known.map(([id]) => id)).toEqual(['t2', 't1', 't0']);
      }
    }
  });

  test('is discarded if the file has no complete line', async () => {
    expect(await read('y'.repeat(200_000))).toEqual({ keep: 0, resume: undefined, young: true });
  });

  test('gives the last written post and the time from which walks subtract the margin', async () => {
    const lines = [line('a', 1_000), line('b', 3_000), line('c', 5_000), line('d', 4_000), line('e', 2_000)];
    const { resume } = await read(lines.join(''));
    expect(resume).toMatchObject({
      kind: 'file',
      // One or two posts that are dated ahead of the others do not count.
      watermark: { top: { id: 'e', at: 2_000 }, base: 3_000 - timing.holdMs },
      floor: 1_000,
    });
  });

  test('has no watermark time if no line has a time, and starts at the beginning of the feed', async () => {
    const { resume } = await read(Array.from({ length: 200 }, (_, i) => line(`t${i}`, null)).join(''));
    expect(resume).toMatchObject({ watermark: { top: { id: 't199', at: null }, base: null } });
    expect(resume?.floor).toBe(Number.NEGATIVE_INFINITY);
    expect(resume?.known).toHaveLength(200);
  });

  test('starts at its oldest time, ignoring lines without a time', async () => {
    const { resume } = await read(line('x', null) + line('a', 5_000) + line('y', null) + line('b', 9_000));
    expect(resume?.floor).toBe(5_000);
    const behind = [line('a', 5_000), ...Array.from({ length: 100 }, (_, i) => line(`t${i}`, null))];
    expect((await read(behind.join(''))).resume).toMatchObject({ floor: 5_000 });
  });

  test('is found before any number of lines without a time', async () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => line(`t${i}`, 1_000 * i));
    const timeless = Array.from({ length: 500 }, (_, i) => line(`x${i}`, null));
    const { resume } = await read([...lines.slice(0, 900), ...timeless, ...lines.slice(900)].join(''));
    for (let i = 999 - DEPTH / 1_000; i < 1_000; i++) expect(ids(resume).has(`t${i}`)).toBe(true);
    for (let i = 0; i < 500; i++) expect(ids(resume).has(`x${i}`)).toBe(true);
  });

  test('ignores a line that is dated far ahead, anywhere in the file', async () => {
    const floors = [0, 50, 80, 500].map(async (place) => {
      const lines = Array.from({ length: 1_000 }, (_, i) => line(`t${i}`, 1_000 * i));
      lines.splice(999 - place, 1, line('ahead', 1e12));
      return (await read(lines.join(''))).resume?.floor ?? 0;
    });
    for (const floor of await Promise.all(floors)) {
      expect(floor).toBeGreaterThanOrEqual(990_000 - DEPTH);
      expect(floor).toBeLessThanOrEqual(1_000_000 - DEPTH);
    }
  });

  test('finds the newest lines before late ones', async () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => line(`t${i}`, 1_000 * i));
    const late = Array.from({ length: 70 }, (_, i) => line(`late${i}`, 900_000 + i));
    const { resume } = await read([...lines, ...late].join(''));
    expect(resume?.floor).toBe(997_000 - DEPTH);
    expect(resume?.watermark.base).toBe(997_000 - timing.holdMs);
  });

  test('ignores posts that are dated long before the lines around them', async () => {
    const lines = Array.from({ length: 30 }, (_, i) => line(`t${i}`, 900_000 + 1_000 * i));
    const old = Array.from({ length: 40 }, (_, i) => line(`old${i}`, 5_000 * i));
    for (const text of [
      [...lines, ...old],
      [...lines.slice(0, 10), ...old, ...lines.slice(10)],
    ]) {
      const { resume } = await read(text.join(''));
      expect(resume?.floor).toBe(900_000);
      expect(ids(resume).has('old0')).toBe(true);
    }
  });

  test('adds the ids written since a checkpoint, back to the floor of the checkpoint', async () => {
    const lines = Array.from({ length: 2_000 }, (_, i) => line(`t${i}`, 1_000 * i));
    const checkpoint: Resume = {
      kind: 'checkpoint',
      watermark: { top: { id: 't900', at: 900_000 }, base: 900_000 },
      floor: 780_000,
      known: [['sifted', 850_000]],
    };
    const { resume } = await read(lines.join(''), checkpoint.floor);
    const merged = mergeResume(checkpoint, resume);
    expect(merged).toMatchObject({ watermark: checkpoint.watermark, floor: checkpoint.floor });
    expect(ids(merged)).toEqual(new Set(['sifted']));
    expect(merged?.lines).toHaveLength(2_000);
  });

  test('adds lines without a time to the ids of a checkpoint', async () => {
    const watermark = { top: null, base: 900_000 };
    const checkpoint: Resume = { kind: 'checkpoint', watermark, floor: 780_000, known: [] };
    const { resume } = await read(line('old', 5_000) + line('x', null) + line('new', 780_000));
    expect(mergeResume(checkpoint, resume)?.lines?.map(([id]) => id)).toEqual(['new', 'x', 'old']);
    expect(mergeResume(checkpoint, undefined)).toEqual({ ...checkpoint, lines: [] });
    expect(mergeResume(undefined, resume)).toBe(resume);
    expect(mergeResume(undefined, undefined)).toBeUndefined();
  });
});
