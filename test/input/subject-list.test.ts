import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, test } from 'vitest';
import { readSubjects, subjectSource } from '../../src/input/subject-list.ts';
import { openFolder } from '../folder.ts';

const onStdin = (stdin: Readable, column?: string) =>
  readSubjects({ words: ['-'], file: undefined, column }, { stdin });

const given = (text: string | readonly Uint8Array[], column?: string) =>
  Readable.from(onStdin(Readable.from(typeof text === 'string' ? [text] : text), column)).toArray();

const inFile = (file: string, column?: string, signal = new AbortController().signal) =>
  readSubjects({ words: [], file, column }, { stdin: Readable.from([]), signal });

const givenFile = (name: string, content: string, column?: string) => {
  const file = join(openFolder(), name);
  writeFileSync(file, content);
  return { file, read: Readable.from(inFile(file, column)).toArray() };
};

test('reading a FIFO ends at the signal, without a writer and with a writer that sends nothing', async () => {
  const path = join(openFolder(), 'fifo');
  execFileSync('mkfifo', [path]);
  const read = async (signal: AbortSignal) => {
    for await (const _ of inFile(path, undefined, signal));
  };
  const end = new AbortController();
  const unwritten = read(end.signal);
  end.abort(new Error('ended'));
  await expect(unwritten).rejects.toThrow('ended');
  await expect(read(end.signal)).rejects.toThrow('ended');

  const later = new AbortController();
  const writer = openSync(path, constants.O_RDWR);
  const silent = read(later.signal);
  await new Promise((resume) => setImmediate(resume));
  later.abort(new Error('ended later'));
  await expect(silent).rejects.toThrow('ended later');
  closeSync(writer);
});

describe('subjects', () => {
  it.each([
    ['mira\r\n\n# the desk\n  @Solwolf \n0xMert', undefined, 'mira 1, @Solwolf 4, 0xMert 5'],
    [`# ${'x'.repeat(1_000_000)}\nmira\n`, undefined, 'mira 2'],
    ['@handle\n', undefined, '@handle 1'],
    ['@a,b\n', undefined, '@a,b 1'],
    ['\uFEFF東京\r\nmira 🌙\r\n', undefined, '東京 1, mira 🌙 2'],
    ['\uFEFFhandle\nmira\n', 'handle', 'mira 2'],
    [
      'name,"the handle",note\nMira,mira,"two\nlines"\nSol,"sol""wolf",\n,,\n',
      'The Handle',
      'mira 2, sol"wolf 4',
    ],
    ['handle,note\r\n\r\nmira,"two\r\nlines"\r\nkato,\r\n', 'handle', 'mira 3, kato 5'],
  ])('have line numbers in any encoding: %j, column %s', async (text, column, subjects) => {
    const little = Buffer.from(text, 'utf16le');
    const wide = text.startsWith('\uFEFF') ? [little, Buffer.from(little).swap16()] : [];
    for (const bytes of [Buffer.from(text), ...wide]) {
      const chunkings =
        bytes.length > 1_000 ? [[bytes]] : [[bytes], [...bytes].map((byte) => Uint8Array.of(byte))];
      for (const chunks of chunkings) {
        const rows = await given(chunks, column);
        expect(rows.map((row) => `${row.text} ${row.where?.slice(5)}`).join(', ')).toBe(subjects);
      }
    }
  });

  it('are rejected while a line without an end is still being read', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(64 * 1024);
    }
    for (const column of [undefined, 'handle']) {
      const read = onStdin(Readable.from(endless()), column);
      const first = read.next();
      if (column !== undefined) await expect(first).rejects.toMatchObject({ kind: 'usage' });
      else
        expect((await first).value).toMatchObject({
          where: 'line 1',
          text: expect.stringMatching(/^\0{4096}$/),
        });
      await read.return(undefined);
    }
  });

  it.each([
    ['desk.csv', 'mira,1\nkato,2\n', undefined, 'FILE contains several columns', '--column NAME'],
    ['desk.csv', 'mira;1\nkato;2\n', undefined, 'FILE contains several columns', '--column NAME'],
    ['desk', 'mira\t1\n', undefined, 'FILE contains several columns', 'one subject per line'],
    ['desk', '"mira"\n"kato"\n', undefined, 'FILE contains quotes', 'remove the quotes'],
    [
      'desk.csv',
      '# it\nHandle\nmira\n',
      undefined,
      'FILE starts with a header: Handle',
      '--column Handle',
    ],
    [
      'posts',
      'authorHandle\nmira\n',
      undefined,
      'FILE starts with a header: authorHandle',
      '--column authorHandle',
    ],
    [
      'desk',
      'evm_wallet\n0x1\n',
      undefined,
      'FILE starts with a header: evm_wallet',
      '@evm_wallet',
    ],
    ['posts.ndjson', '{"authorHandle":"mira"}\n', undefined, 'FILE contains JSON', '--column'],
    ['posts.json', '[\n{"authorHandle":"mira"}]', undefined, 'FILE contains JSON', '--column'],
    [
      'posts.json',
      '[{"authorHandle":"mira"},"mira"]',
      'authorHandle',
      'item 2 of the input is not a JSON object',
      '-o ndjson',
    ],
    [
      'posts.ndjson',
      '{"authorHandle":"mira"}\n{"authorHandle":null}\n',
      'author',
      'no record of the input has the field "author"',
      'authorHandle',
    ],
    [
      'posts.ndjson',
      '{"user":{"handle":"mira"}}\n',
      'user',
      'line 1: "user" is not a text',
      'select a field',
    ],
    [
      'posts.ndjson',
      '{"user":"mira"}\nmira\n',
      'user',
      'line 2 of the input is not a JSON object',
      '-o ndjson',
    ],
    ['desk.csv', '"wallet"\n', undefined, 'FILE starts with a header: wallet', '--column wallet'],
    [
      'desk.csv',
      'handle,name\nmira,Mira\n',
      'handel',
      'the input has no column "handel"',
      'handle',
    ],
    [
      'desk.csv',
      'handle\n"mira\n',
      'handle',
      'a quote in the row that begins on line 2 is never closed',
      'close it',
    ],
    [
      'desk.tsv',
      'handle\tnote\tdesk\nmira\t"two\nlines"\t1\n',
      'handle',
      'line 2 ends within a quoted cell',
      'CSV',
    ],
  ])('are rejected: %s %j, column %s', async (name, content, column, message, hint) => {
    const { file, read } = givenFile(name, content, column);
    await expect(read).rejects.toMatchObject({
      kind: 'usage',
      message: message.replace('FILE', file),
      hint: expect.stringContaining(hint),
    });
  });

  it.each([
    ['desk.csv', '@handle\nkato\n', undefined, ['@handle', 'kato']],
    [
      'desk.csv',
      'name;handle\n"Mira; the one";mira\nSol, the wolf;"sol""wolf"\n',
      'handle',
      ['mira', 'sol"wolf'],
    ],
    ['desk.csv', '"name, first";handle;x,y\nMira;mira;\n', 'handle', ['mira']],
    [
      'desk.tsv',
      'name\thandle\n"Mira\tmira\nSol\\tWolf\t"solwolf"\n',
      'handle',
      ['mira', 'solwolf'],
    ],
    ['desk.txt', '\n\nhandle\tdesk,room\r\nmira\t1\r\n', 'handle', ['mira']],
    ['desk.tsv', 'handle\nmira\n', 'handle', ['mira']],
    [
      'posts.ndjson',
      '\n{"authorHandle":"mira","id":1}\r\n\n{"id":2}\n{"authorHandle":null}\n{"authorHandle":" kato "}',
      'authorHandle',
      ['mira', 'kato'],
    ],
    ['posts.jsonl', '{"user":{"handle":"mira"}}\n', 'user.handle', ['mira']],
  ])('are read from a table or from records: %s %j', async (name, content, column, subjects) => {
    const rows = await givenFile(name, content, column).read;
    expect(rows.map(({ text }) => text)).toEqual(subjects);
  });

  it('are the arguments, then the file', async () => {
    const file = join(openFolder(), 'handles.txt');
    writeFileSync(file, 'b\nc\n');
    const source = subjectSource(['a'], { file, column: undefined }, 'handle');
    const rows = readSubjects(source, { stdin: Readable.from([]) });
    expect((await Readable.from(rows).toArray()).map(({ text }) => text)).toEqual(['a', 'b', 'c']);
    await expect(inFile('/nowhere/handles').next()).rejects.toMatchObject({
      ...{ kind: 'usage', message: expect.stringContaining('/nowhere/handles') },
    });
  });

  it.each([
    ['nothing at all', [], { file: undefined, column: undefined }],
    ['stdin twice', ['-'], { file: 'x', column: undefined }],
    ['a column without a file', ['a'], { file: undefined, column: 'handle' }],
  ])('reject %s before reading anything', (_, words, given) => {
    expect(() => subjectSource(words, given, 'handle')).toThrow(
      expect.objectContaining({ kind: 'usage' }),
    );
  });
});
