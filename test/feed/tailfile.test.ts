import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Resume } from '../../src/feed/flow.ts';
import { mergeResume, readTailFile } from '../../src/feed/tailfile.ts';
import { timing } from '../../src/feed/timing.ts';

const form = { timeField: 'platformCreatedAt' };
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
  test('of an empty file says nothing', async () => {
    expect(await read('')).toEqual({ keep: 0, resume: undefined });
  });

  test('cut at any byte keeps the whole lines before it, and knows their ids', async () => {
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

  test('is read back in pieces as it is read back whole', async () => {
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

  test('reaches back as far as a walk will, late lines behind newer ones included', async () => {
    const lines: string[] = [];
    for (let i = 0; i < 3_000; i++) lines.push(line(`t${i}`, 1_000 * i));
    const newest = 2_999_000;
    // An audit's fill: a hundred late lines at the very end.
    for (let i = 0; i < 100; i++) lines.push(line(`late${i}`, newest - DEPTH + 1_000 * i));
    const { resume } = await read(lines.join(''));
    const floor = resume?.floor ?? 0;
    expect(floor).toBeGreaterThanOrEqual(newest - DEPTH - 5_000);
    expect(resume?.watermark.base).toBe(floor + timing.marginMs);
    for (let i = Math.ceil(floor / 1_000); i < 3_000; i++) expect(ids(resume).has(`t${i}`)).toBe(true);
    for (let i = 0; i < 100; i++) expect(ids(resume).has(`late${i}`)).toBe(true);
    expect(resume?.known.length).toBeLessThan(1_200);
  });

  test('of a short file begins with its oldest line: what was posted before is not wanted', async () => {
    const { resume } = await read(line('a', 5_000) + line('b', 4_000) + line('c', 9_000));
    expect(resume?.floor).toBe(4_000);
  });

  test('is refused where a line is no record with an id', async () => {
    await expect(read(`${line('a', 1)}hello\n`)).rejects.toThrow(/no record with an id/);
    await expect(read(`{"handle":"mira"}\n`)).rejects.toThrow(/no record with an id/);
  });

  test('is read back as far as its checkpoint wants, and adds the ids that came out since', async () => {
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
    expect(ids(merged)).toEqual(new Set(['sifted', ...lines.map((_, i) => `t${i}`).slice(780)]));
  });
});
