import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resumeLines } from '../../../src/tail/file/certify.ts';
import { LineCount } from '../../../src/tail/file/line-count.ts';
import { savePosition } from '../../../src/tail/file/position-file.ts';
import { readStart } from '../../../src/tail/file/read-start.ts';
import type { Position } from '../../../src/tail/position.ts';
import { openFolder } from '../../folder.ts';

const AT = 1795260957417;
const fileOf = (text: string) => {
  const folder = openFolder();
  const out = join(folder, 'theses.ndjson');
  writeFileSync(out, text);
  return out;
};
const resume = (out: string) => {
  const notices: string[] = [];
  const reading = { out, checkpoint: undefined, feed: 'thesis', timeField: 'platformCreatedAt' };
  return { start: readStart({ ...reading, notice: (text) => notices.push(text) }), notices };
};
const line = `{"id":"a","platformCreatedAt":${AT}}\n`;

describe('a file that a tail resumes from', () => {
  it.each(['name,price', 'my notes without an end', `${line}notes`])(
    'is not changed if a tail did not write it: %j',
    (text) => {
      const out = fileOf(text);
      expect(() => resume(out)).toThrow(
        expect.objectContaining({ kind: 'local', code: 'TAIL_FILE' }),
      );
      expect(readFileSync(out, 'utf8')).toBe(text);
    },
  );

  it.each([undefined, '', '{"form":"trdr-position","version":1,"feed":"thesis"'])(
    'is continued after its newest line if its position is lost, which is reported: %j',
    (position) => {
      const out = fileOf(line);
      if (position !== undefined) writeFileSync(`${out}.trdr`, position);
      const { start, notices } = resume(out);
      expect(start?.ids).toEqual([['a', AT]]);
      expect(start?.verified).toBeLessThan(AT);
      expect(notices.join()).toContain('continuing');
    },
  );

  it.each([`{"id":"torn","plat`, `{"id":"torn","platformCreatedAt":${AT}}`])(
    'repeats a post whose line a crash left incomplete in a file that was then renamed: %j',
    (torn) => {
      const out = fileOf(line + torn);
      const { dev, ino } = statSync(out);
      const file = { dev: String(dev), ino: String(ino), offset: 0 };
      const position = { form: 'trdr-position', version: 1, feed: 'thesis', ids: [], file };
      writeFileSync(
        `${out}.trdr`,
        JSON.stringify({ ...position, start: null, verified: null, lowest: null }),
      );
      renameSync(out, `${out}.1`);
      expect(resume(out).start?.ids).toEqual([['a', AT]]);
    },
  );
});

/** Posts that are a second apart, in lines. */
const posts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({
    id: `p${from + i}`,
    at: AT + (from + i) * 1_000,
  }));
const textOf = (some: readonly { readonly id: string; readonly at: number }[]) =>
  some.map(({ id, at }) => `{"id":"${id}","platformCreatedAt":${at}}\n`).join('');
const idsOf = (start: Position | undefined) => new Set(start?.ids.map(([id]) => id));

/** Writes the position of a tail that has verified the first posts of its file. */
function savePlace(path: string, out: string, verified: number) {
  const { dev, ino, size } = statSync(out);
  const lines = new LineCount().read(out).lines(null);
  const coverage = { after: AT - 1, gaps: [] };
  savePosition(path, {
    ...{ feed: 'thesis', filters: {}, start: AT - 1, verified, lowest: AT, coverage },
    ids: [],
    file: { dev: String(dev), ino: String(ino), offset: size, lines },
  });
}

it('continues the file before one that was empty when somebody renamed it', () => {
  const out = fileOf('');
  savePlace(`${out}.trdr`, out, AT + 590_000);
  const position = resume(out).start;
  const { file } = position ?? {};
  const previous = 'the digest of the file before';
  const lines = file?.lines && { ...file.lines, previous };
  renameSync(out, `${out}.1`);
  const continued = position && { ...position, file: file && { ...file, lines } };
  expect(resumeLines(out, continued, {}).place.lines).toMatchObject({ previous });
});

describe('a file that was cut after its position was saved', () => {
  const all = textOf(posts(0, 600));
  it.each([
    ['in a line', all.length - 25, 599],
    ['at a line', textOf(posts(0, 599)).length, 599],
    ['by many lines', textOf(posts(0, 400)).length, 400],
  ])('is continued before its newest line: %s', (_, size, left) => {
    const out = fileOf(all);
    savePlace(`${out}.trdr`, out, AT + 590_000);
    truncateSync(out, size);
    const { start, notices } = resume(out);
    expect(notices.join()).toContain('lines were removed from');
    expect(idsOf(start)).toEqual(new Set(posts(0, left).map(({ id }) => id)));
    const newest = AT + (left - 1) * 1_000;
    expect(start?.verified).toBeLessThanOrEqual(newest - 240_000);
    // What was claimed before is not claimed any more.
    expect(start?.coverage?.after).toBe(start?.verified);
  });

  it('may have grown again', () => {
    const out = fileOf(all);
    savePlace(`${out}.trdr`, out, AT + 590_000);
    truncateSync(out, textOf(posts(0, 300)).length);
    appendFileSync(out, `{"id":"longer than the others","platformCreatedAt":${AT}}\n`.repeat(400));
    expect(resume(out).notices.join()).toContain('lines were removed from');
  });

  it('is continued where it was if nothing is missing', () => {
    const out = fileOf(all);
    savePlace(`${out}.trdr`, out, AT + 590_000);
    appendFileSync(out, textOf(posts(600, 610)));
    const { start, notices } = resume(out);
    expect([start?.verified, notices]).toEqual([AT + 590_000, []]);
    expect(idsOf(start)).toEqual(new Set(posts(600, 610).map(({ id }) => id)));
  });
});

describe('a rotated file whose position is lost', () => {
  /** Two finished files, of which the newest has a certificate, and the file that continues them. */
  function rotated(current: string) {
    const out = fileOf(textOf(posts(0, 300)));
    const [first, second] = ['20261122T010203Z', '20261122T020203Z'].map((stamp) =>
      out.replace('.ndjson', `.${stamp}.ndjson`),
    );
    renameSync(out, first ?? '');
    utimesSync(first ?? '', 1, 1);
    writeFileSync(second ?? '', textOf(posts(300, 310)));
    utimesSync(second ?? '', 2, 2);
    writeFileSync(out, current);
    savePlace(`${second}.trdr`, second ?? '', AT + 200_000);
    return { out, second: second ?? '' };
  }

  it.each([
    ['and whose file is empty', '', 310],
    ['and whose file has lines', textOf(posts(310, 320)), 320],
  ])('%s continues from the certificate of the newest finished file', (_, current, to) => {
    const { out } = rotated(current);
    const { start, notices } = resume(out);
    expect(start).toMatchObject({ verified: AT + 200_000, coverage: { after: AT - 1 } });
    expect(idsOf(start)).toEqual(new Set(posts(201, to).map(({ id }) => id)));
    expect(notices.join()).toContain('from the certificate of');
    const { place } = resumeLines(out, start, {});
    expect(place.lines?.previous).toMatch(/^[0-9a-f]{32}$/);
  });

  it('continues before the newest post of a finished file without a certificate', () => {
    const { out, second } = rotated('');
    rmSync(`${second}.trdr`);
    const { start, notices } = resume(out);
    expect(idsOf(start)).toEqual(new Set(posts(300, 310).map(({ id }) => id)));
    expect(start?.verified).toBe(AT + 307_000 - 240_000);
    expect(notices.join()).toContain('is not known');
  });

  it('says that it starts like a new run if no line shows where it was', () => {
    const { out, second } = rotated('');
    rmSync(`${second}.trdr`);
    writeFileSync(second, '');
    const { start, notices } = resume(out);
    expect([start, notices.join()]).toEqual([undefined, expect.stringContaining('like a new run')]);
  });
});

it('says nothing about a file that is new', () => {
  expect(resume(fileOf(''))).toEqual({ start: undefined, notices: [] });
});
