import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileSink } from '../../src/output/file.ts';
import { openFolder } from '../folder.ts';

describe('an output file', () => {
  it.each([
    ['deleted', false],
    ['replaced by a file', true],
  ])('is reported with its place if its folder is %s during the run', async (_, isReplaced) => {
    const folder = join(openFolder(), 'in');
    mkdirSync(folder);
    const sink = await fileSink(join(folder, 'all.ndjson'), {});
    await sink.write('{"id":1}\n');
    rmSync(folder, { recursive: true });
    if (isReplaced) writeFileSync(folder, '');
    const error = await sink.finish('complete').catch(String);
    const [, place = ''] = /; the complete result is in (.*)$/.exec(`${error}`) ?? [];
    expect(readFileSync(place, 'utf8')).toBe('{"id":1}\n');
    rmSync(place);
  });

  it('may be a pipe without a reader until the signal, whenever the signal comes', async () => {
    const path = join(openFolder(), 'unread');
    execFileSync('mkfifo', [path]);
    for (const moment of ['before', 'at once', 'later'] as const) {
      const ending = new AbortController();
      const reason = new Error(moment);
      if (moment === 'before') ending.abort(reason);
      const opened = fileSink(path, { signal: ending.signal });
      const failed = expect(opened).rejects.toBe(reason);
      if (moment === 'later') await new Promise((resume) => setImmediate(resume));
      ending.abort(reason);
      await failed;
    }
  });
});
