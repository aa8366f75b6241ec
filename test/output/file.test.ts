import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileSink } from '../../src/output/file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trdr-file-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('an output file', () => {
  it.each([
    ['deleted', () => rmSync(join(folder, 'in'), { recursive: true })],
    [
      'replaced by a file',
      () => {
        rmSync(join(folder, 'in'), { recursive: true });
        writeFileSync(join(folder, 'in'), '');
      },
    ],
  ])('is reported with its place if its folder is %s during the run', async (_, change) => {
    mkdirSync(join(folder, 'in'));
    const sink = await fileSink(join(folder, 'in', 'all.ndjson'));
    await sink.write('{"id":1}\n');
    change();
    const error = await sink.finish('complete').then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const [, place = ''] = /; the complete result is in (.*)$/.exec(String(error)) ?? [];
    expect(readFileSync(place, 'utf8')).toBe('{"id":1}\n');
    rmSync(place);
  });

  it('may be a pipe without a reader until the signal, whenever the signal comes', async () => {
    const path = join(folder, 'unread');
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
