import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStart } from '../../../src/cli/tail/position-file.ts';
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

  it('takes a checkpoint of trdr 1.0 over', () => {
    const out = fileOf(line);
    const old = {
      form: 'trdr-tail',
      version: 1,
      feed: 'thesis',
      floor: AT - 1,
      known: [['late', AT - 5]],
    };
    writeFileSync(`${out}.trdr`, JSON.stringify(old));
    expect(resume(out).start).toMatchObject({
      verified: AT - 1,
      ids: expect.arrayContaining([['late', AT - 5]]),
    });
  });
});
