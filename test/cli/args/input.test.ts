import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { readCsv } from '../../../src/cli/args/csv-input.ts';
import { readSubjects, subjectSource } from '../../../src/cli/args/input.ts';

const none = { file: undefined, column: undefined };

const onStdin = (stdin: Readable, column?: string) =>
  readSubjects({ words: ['-'], file: undefined, column }, { stdin, cwd: '/' });

const given = (text: string | readonly Uint8Array[], column?: string) =>
  Readable.from(onStdin(Readable.from(typeof text === 'string' ? [text] : text), column)).toArray();

const inFile = (file: string, column?: string, signal = new AbortController().signal) =>
  readSubjects({ words: [], file, column }, { stdin: Readable.from([]), cwd: '/', signal });

const givenFile = (name: string, content: string, column?: string) => {
  const file = join(openFolder(), name);
  writeFileSync(file, content);
  return { file, read: Readable.from(inFile(file, column)).toArray() };
};

/** Creates a folder for a test and removes it afterwards. */
function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-input-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

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

describe('subjects from a text', () => {
  it('are one per line, without blank lines and comments, with their line numbers', async () => {
    expect(await given('mira\r\n\n# the desk\n  @Solwolf \n0xMert')).toEqual([
      { text: 'mira', line: 1 },
      { text: '@Solwolf', line: 4 },
      { text: '0xMert', line: 5 },
    ]);
  });

  it('are rejected while a line without an end is still being read', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(64 * 1024);
    }
    for (const column of [undefined, 'handle']) {
      const read = onStdin(Readable.from(endless()), column);
      const first = read.next();
      if (column !== undefined) await expect(first).rejects.toMatchObject({ kind: 'usage' });
      else expect((await first).value).toMatchObject({ line: 1, text: expect.stringMatching(/^\0{4096}$/) });
      await read.return(undefined);
    }
  });

  it('may follow a comment of any length', async () => {
    expect(await given(`# ${'x'.repeat(1_000_000)}\nmira\n`)).toEqual([{ text: 'mira', line: 2 }]);
  });

  it('tolerate a byte order mark and characters split between chunks', async () => {
    const bytes = Buffer.from('\uFEFF東京\nmira\n');
    expect(await given([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual([
      { text: '東京', line: 1 },
      { text: 'mira', line: 2 },
    ]);
  });

  it('may be UTF-16 with a byte order mark, as Windows PowerShell writes it', async () => {
    const text = '\uFEFF東京\r\nmira 🌙\r\n';
    const little = Buffer.from(text, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const bytes of [little, big]) {
      const expected = [
        { text: '東京', line: 1 },
        { text: 'mira 🌙', line: 2 },
      ];
      expect(await given([bytes])).toEqual(expected);
      expect(await given([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    }
    expect(await given([Buffer.from('\uFEFFhandle\nmira\n', 'utf16le')], 'handle')).toEqual([
      { text: 'mira', line: 2 },
    ]);
  });

  it('come from the named column of a CSV, with their line numbers', async () => {
    const csv = 'name,"the handle",note\nMira,mira,"two\nlines"\nSol,"sol""wolf",\n,,\n';
    expect(await given(csv, 'The Handle')).toEqual([
      { text: 'mira', line: 2 },
      { text: 'sol"wolf', line: 4 },
    ]);
  });

  it('have the same line numbers with CRLF as with LF, also within quotes', async () => {
    const csv = 'handle,note\n\nmira,"two\nlines"\nkato,\n'.replaceAll('\n', '\r\n');
    expect(await given(csv, 'handle')).toEqual([
      { text: 'mira', line: 3 },
      { text: 'kato', line: 5 },
    ]);
  });

  it('are rejected if the column is missing, with the closest name', async () => {
    await expect(given('handle,name\nmira,Mira\n', 'handel')).rejects.toMatchObject({
      kind: 'usage',
      hint: expect.stringContaining('handle'),
    });
  });

  it('are rejected if a quote is not closed', async () => {
    await expect(given('handle\n"mira\n', 'handle')).rejects.toMatchObject({ kind: 'usage' });
  });
});

describe('sources of subjects', () => {
  it.each([
    ['several columns', 'mira,1\nkato,2\n', 'contains several columns', '--column NAME'],
    ['columns separated by semicolons', 'mira;1\nkato;2\n', 'contains several columns', '--column NAME'],
    ['columns separated by tabs', 'mira\t1\n', 'contains several columns', 'one subject per line'],
    ['quotes', '"mira"\n"kato"\n', 'contains quotes', 'remove the quotes'],
    ['a header', '# the desk\nHandle\nmira\n', 'starts with a header: Handle', '--column Handle'],
    ['a quoted header', '"wallet"\n', 'starts with a header: wallet', '--column wallet'],
  ])('are rejected if a CSV has %s and no column is given', async (_, content, message, hint) => {
    const { file, read } = givenFile('desk.csv', content);
    await expect(read).rejects.toMatchObject({
      kind: 'usage',
      message: `${file} ${message}`,
      hint: expect.stringContaining(hint),
    });
  });

  it('are rejected on stdin if they have columns, and accepted if only the first word could be a header', async () => {
    await expect(given('handle,desk\nmira,1\n')).rejects.toMatchObject({
      message: 'stdin contains several columns',
    });
    expect(await given('handle\n')).toEqual([{ text: 'handle', line: 1 }]);
    expect(await given('@a,b\n')).toEqual([{ text: '@a,b', line: 1 }]);
  });

  it('are the lines of a CSV with a single column', async () => {
    expect(await givenFile('desk.csv', '@handle\nkato\n').read).toEqual([
      { text: '@handle', line: 1 },
      { text: 'kato', line: 2 },
    ]);
  });

  it.each([
    ['desk.csv', 'name;handle\n"Mira; the one";mira\nSol, the wolf;"sol""wolf"\n', ['mira', 'sol"wolf']],
    ['desk.csv', '"name, first";handle;x,y\nMira;mira;\n', ['mira']],
    ['desk.tsv', 'name\thandle\n"Mira\tmira\nSol\\tWolf\t"solwolf"\n', ['mira', 'solwolf']],
    ['desk.txt', '\n\nhandle\tdesk,room\r\nmira\t1\r\n', ['mira']],
    ['desk.tsv', 'handle\nmira\n', ['mira']],
  ])('are the column of a table with any separator: %s %j', async (name, content, subjects) => {
    const rows = await givenFile(name, content, 'handle').read;
    expect(rows.map(({ text }) => text)).toEqual(subjects);
  });

  it('are rejected if a quoted cell of a table with tabs spans lines', async () => {
    await expect(given('handle\tnote\tdesk\nmira\t"two\nlines"\t1\n', 'handle')).rejects.toMatchObject({
      message: 'line 2 ends within a quoted cell',
    });
  });

  it('are the arguments, then the file', async () => {
    const file = join(openFolder(), 'handles.txt');
    writeFileSync(file, 'b\nc\n');
    const source = subjectSource(['a'], { file, column: undefined }, 'handle');
    const rows = readSubjects(source, { stdin: Readable.from([]), cwd: '/' });
    expect((await Readable.from(rows).toArray()).map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['nothing at all', [], none],
    ['stdin twice', ['-'], { file: 'x', column: undefined }],
    ['a column without a file', ['a'], { file: undefined, column: 'handle' }],
  ])('reject %s before reading anything', (_, words, given) => {
    expect(() => subjectSource(words, given, 'handle')).toThrow(expect.objectContaining({ kind: 'usage' }));
  });

  it('name a missing file', async () => {
    const source = subjectSource([], { file: '/nowhere/handles', column: undefined }, 'handle');
    await expect(readSubjects(source, { stdin: Readable.from([]), cwd: '/' }).next()).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('/nowhere/handles'),
    });
  });
});

describe('reading CSV', () => {
  const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  const escaped = (cell: string) => JSON.stringify(cell).slice(1, -1).replaceAll('\\"', '"');

  it.each([
    [',', quote],
    [';', quote],
    ['\t', escaped],
  ] as const)('returns any cells separated by %j, with any chunk boundaries', async (separator, write) => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\t', '\\', '\n', '\r', ' ', '東') });
    const row = fc.tuple(cell, cell, cell);
    const rows = fc.array(row, { maxLength: 5 }).map((some) => [['h', 'i', 'j, k; l'], ...some]);
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 7 }), async (table, size) => {
        const csv = table.map((cells) => `${cells.map(write).join(separator)}\n`).join('');
        const chunks = csv.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
        const read = [];
        for await (const { cells } of readCsv(Readable.from(chunks))) read.push(cells);
        expect(read).toEqual(table);
      }),
      process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {},
    );
  });
});
