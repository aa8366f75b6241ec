import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readResume } from '../../src/cli/tail/resume.ts';

const fileOf = (text: string) => {
  const out = join(mkdtempSync(join(tmpdir(), 'trdr-')), 'theses.ndjson');
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
  it.each(['{"id":"b","platf', '\0\0\0'])('loses a torn line: %j', async (torn) => {
    const out = fileOf(line + torn);
    expect(await resume(out)).toMatchObject({ kind: 'file', known: [['a', 1795260957417]] });
    expect(readFileSync(out, 'utf8')).toBe(line);
  });

  it.each(['name,price', 'my notes without an end', `${line}notes`])(
    'is not changed if it is another file: %j',
    async (text) => {
      const out = fileOf(text);
      await expect(resume(out)).rejects.toMatchObject({ kind: 'local', code: 'TAIL_FILE' });
      expect(readFileSync(out, 'utf8')).toBe(text);
    },
  );
});
