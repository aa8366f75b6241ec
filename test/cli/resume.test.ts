import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { finishedName } from '../../src/cli/tail/output/rotation.ts';
import { fileAt } from '../../src/cli/tail/resume/position.ts';
import { readResume } from '../../src/cli/tail/resume/resume.ts';
import { createSaver } from '../../src/cli/tail/resume/saver.ts';
import { writeCheckpoint } from '../../src/tail/output/checkpoint.ts';
import { noWait } from '../no-wait.ts';

const fileOf = (text: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const out = join(folder, 'theses.ndjson');
  writeFileSync(out, text);
  return out;
};
const resume = (out: string) =>
  readResume({
    ...{ out, checkpoint: undefined, position: undefined, feed: 'thesis' },
    ...{ timeField: 'platformCreatedAt', now: 1e9, notice: () => {} },
  });
const line = '{"id":"a","platformCreatedAt":1795260957417}\n';

describe('a file that a tail resumes from', () => {
  it.each(['{"id":"b","platf', '\0\0\0'])('loses only an incomplete line: %j', async (torn) => {
    const out = fileOf(line + torn);
    expect(await resume(out)).toMatchObject({ kind: 'file', known: [['a', 1795260957417]] });
    expect(readFileSync(out, 'utf8')).toBe(line);
  });

  it.each(['name,price', 'my notes without an end', `${line}notes`])(
    'is not changed if a tail did not write it: %j',
    async (text) => {
      const out = fileOf(text);
      await expect(resume(out)).rejects.toMatchObject({ kind: 'local', code: 'TAIL_FILE' });
      expect(readFileSync(out, 'utf8')).toBe(text);
    },
  );
});

it('repeats a post whose line a crash left incomplete in a file that was then renamed', async () => {
  const at = 1795260957417;
  const out = fileOf(`${line}{"id":"torn","plat`);
  const position = `${out}.position`;
  const saver = createSaver({
    diskWait: noWait,
    checkpoint: undefined,
    out,
    position,
    identity: () => fileAt(out),
    notice() {},
  });
  const known = [['torn', at + 1] as const, ['a', at] as const];
  await saver.save(
    writeCheckpoint({
      feed: 'thesis',
      floor: at,
      watermark: { top: { id: 'torn', at: at + 1 }, base: at },
      known,
    }),
  );
  renameSync(out, `${out}.1`);
  const resumed = await readResume({
    ...{ out, checkpoint: undefined, position, feed: 'thesis' },
    ...{ timeField: 'platformCreatedAt', now: at + 60_000, notice() {} },
  });
  expect(resumed?.known.map(([id]) => id)).toEqual(['a']);
});

describe('a tail with finished files, whose current file is renamed by another program', () => {
  const START = Date.UTC(2026, 10, 22, 12);
  const [FINISHED, RENAMED] = [1_000, 5_000];
  const DEPTH = 240;
  const timeOf = (number: number) => START + number * 1_000;
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const linesOf = (from: number, to: number) =>
    numbers(from, to)
      .map((number) => `${JSON.stringify({ id: `p${number}`, platformCreatedAt: timeOf(number) })}\n`)
      .join('');

  it.each([
    ['within its folder', 'theses.ndjson.1', 0],
    ['within its folder, before some more posts', 'theses.ndjson.1', 5],
    ['to another folder', 'away/theses.ndjson', 0],
    ['to another folder, before some more posts', 'away/theses.ndjson', 5],
  ])('repeats no post after the file was moved %s', async (_, name, more) => {
    const folder = mkdtempSync(join(tmpdir(), 'trdr-resume-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'away'));
    const out = join(folder, 'theses.ndjson');
    const position = join(folder, 'position.json');
    const identity = () => fileAt(out);
    const saver = createSaver({
      ...{ diskWait: noWait, checkpoint: undefined, out, position, identity },
      notice() {},
    });
    writeFileSync(finishedName(out, timeOf(0)), linesOf(0, FINISHED));
    writeFileSync(out, linesOf(FINISHED, RENAMED));
    saver.moved();
    await saver.save(
      writeCheckpoint({
        ...{ feed: 'thesis', floor: timeOf(RENAMED - DEPTH) },
        watermark: {
          top: { id: `p${RENAMED - 1}`, at: timeOf(RENAMED - 1) },
          base: timeOf(RENAMED - DEPTH / 2),
        },
        known: numbers(RENAMED - DEPTH, RENAMED).map((number) => [`p${number}`, timeOf(number)] as const),
      }),
    );
    renameSync(out, join(folder, name));
    writeFileSync(out, linesOf(RENAMED, RENAMED + more));
    saver.moved();
    const resumed = await readResume({
      ...{ out, rotates: true, checkpoint: undefined, position, feed: 'thesis' },
      ...{ timeField: 'platformCreatedAt', now: timeOf(RENAMED + 60), notice() {} },
    });
    const floor = resumed?.floor ?? 0;
    const known = new Set([...(resumed?.known ?? []), ...(resumed?.lines ?? [])].map(([id]) => id));
    const wanted = numbers(0, RENAMED + more).filter((number) => timeOf(number) >= floor);
    expect(wanted.length).toBeGreaterThanOrEqual(DEPTH);
    expect(wanted.filter((number) => !known.has(`p${number}`))).toEqual([]);
  });
});
