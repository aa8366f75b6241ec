import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { realPath } from '../../src/base/files.ts';
import { replaceFile, replaceWith, writeAtomic } from '../../src/base/replace-file.ts';
import { fileSink } from '../../src/output/file.ts';
import { openFolder } from '../folder.ts';
import { asPlainUser } from '../plain-user.ts';

let folder = '';
beforeEach(() => {
  folder = openFolder();
});

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Every function that replaces a file. */
const writers: readonly (readonly [
  string,
  (path: string, text: string) => void | Promise<void>,
])[] = [
  ['a file of trdr', (path, text) => writeAtomic(path, text)],
  ['an export', (path, text) => replaceWith(path, [text])],
  [
    '--out',
    async (path, text) => {
      const sink = await fileSink(path, {});
      await sink.write(text);
      await sink.finish('complete');
    },
  ],
];

describe.each(writers)('%s', (name, write) => {
  test('follows links, even to a missing file', async () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync('second', join(folder, 'first'));
    symlinkSync('real/file', join(folder, 'second'));
    for (const text of ['one', 'two']) {
      await write(join(folder, 'first'), text);
      expect(readFileSync(join(folder, 'real/file'), 'utf8')).toBe(text);
    }
    expect(readdirSync(folder).sort()).toEqual(['first', 'real', 'second']);
    expect(readdirSync(join(folder, 'real'))).toEqual(['file']);
    expect(readlinkSync(join(folder, 'first'))).toBe('second');
  });

  test('keeps the mode of the file, unless it is private', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'old');
    chmodSync(path, 0o640);
    await write(path, 'new');
    expect(mode(path)).toBe(name === 'a file of trdr' ? '600' : '640');
  });

  test('does not replace write-protected files', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'old', { mode: 0o444 });
    await asPlainUser(folder, () =>
      expect((async () => write(path, 'new'))()).rejects.toMatchObject({ code: 'EACCES' }),
    );
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['old', ['file']]);
  });

  test('does not change the other hard links of a file', async () => {
    const [path, other] = [join(folder, 'file'), join(folder, 'other')];
    writeFileSync(path, 'old');
    linkSync(path, other);
    await write(path, 'new');
    expect([readFileSync(path, 'utf8'), readFileSync(other, 'utf8')]).toEqual(['new', 'old']);
  });

  test.each(['directory', 'loop'])('rejects a %s and leaves nothing behind', async (kind) => {
    const path = join(folder, 'file');
    if (kind === 'directory') mkdirSync(path);
    else symlinkSync('file', path);
    await expect((async () => write(path, 'new'))()).rejects.toMatchObject({
      code: kind === 'directory' ? 'EISDIR' : 'ELOOP',
    });
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe('a file that is saved beside its target', () => {
  const saved = (path: string, between = () => {}) => {
    const file = replaceFile(path);
    writeFileSync(file.fd, 'new');
    between();
    return file.saveBeside();
  };

  test('does not change the target, nor what was saved before', () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'old');
    expect([saved(path), saved(path), saved(path)]).toEqual(
      ['', '2', '3'].map((number) => `${realPath(path)}.partial${number}`),
    );
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder).sort()).toEqual([
      'file',
      'file.partial',
      'file.partial2',
      'file.partial3',
    ]);
  });

  test('keeps its temporary name if no other is possible', () => {
    const name = saved(join(folder, 'x'.repeat(255)));
    expect([dirname(name), readFileSync(name, 'utf8')]).toEqual([realPath(folder), 'new']);
    expect(readdirSync(folder)).toEqual([basename(name)]);
  });

  test('is copied elsewhere if its folder is deleted', () => {
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    const name = saved(join(inner, 'file'), () => rmSync(inner, { recursive: true }));
    onTestFinished(() => rmSync(name));
    expect([dirname(name), readFileSync(name, 'utf8')]).toEqual([tmpdir(), 'new']);
    expect(statSync(name).mode & 0o777).toBe(0o600);
  });
});
