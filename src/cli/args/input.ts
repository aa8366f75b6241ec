import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { usageError } from '../../base/failure.ts';
import { inWords } from '../../base/files.ts';
import { createLineSplitter, type Line } from '../../base/lines.ts';
import { group } from '../../base/units.ts';
import { trimText } from '../../base/values.ts';
import { didYouMean } from '../../output/suggest.ts';
import type { Io } from '../io.ts';
import { readCsv } from './csv-input.ts';

/** A subject as the user wrote it, with its line number if it comes from a file or stdin. */
export interface GivenSubject {
  readonly text: string;
  readonly line?: number;
}

/** Where a command reads its subjects: from arguments (`words`), a file or stdin (`-`). */
export interface SubjectSource {
  readonly words: readonly string[];
  readonly file: string | undefined;
  readonly column: string | undefined;
}

/** Checks that the given sources can be combined, before anything is read. */
export function subjectSource(
  words: readonly string[],
  given: { readonly file: string | undefined; readonly column: string | undefined },
  what: string,
): SubjectSource {
  const fromStdin = words.includes('-');
  if (words.length === 0 && given.file === undefined) {
    throw usageError(
      `no ${what} given`,
      `pass one as an argument, or read a list with --file FILE or from stdin with -`,
    );
  }
  if (fromStdin && given.file !== undefined)
    throw usageError('- (stdin) and --file cannot be combined', 'use one of them');
  if (given.column !== undefined && !fromStdin && given.file === undefined) {
    throw usageError(
      '--column requires input from a file or stdin',
      'add --file FILE, or - to read from stdin',
    );
  }
  return { words, file: given.file, column: given.column };
}

/** Reads input only as the caller consumes subjects, so that memory does not grow with it. `check` throws at an unusable one. */
export async function* readSubjects(
  source: SubjectSource,
  io: Pick<Io, 'stdin' | 'cwd'> & { readonly signal?: AbortSignal },
  check: (subject: GivenSubject) => void = () => {},
): AsyncGenerator<GivenSubject> {
  for await (const some of partsOf(source, io)) {
    for (const subject of some) {
      check(subject);
      yield subject;
    }
  }
}

/** The subjects in parts, such as those of one chunk of input, because one promise per subject would be slower. */
async function* partsOf(
  source: SubjectSource,
  io: Pick<Io, 'stdin'> & { readonly signal?: AbortSignal },
): AsyncGenerator<Iterable<GivenSubject>> {
  const stdin = () => fromBytes(stoppable(io.stdin, io.signal), source.column, 'stdin');
  for (const word of source.words) {
    if (word === '-') yield* stdin();
    else yield [{ text: word }];
  }
  if (source.file === '-') yield* stdin();
  else if (source.file !== undefined) {
    yield* fromBytes(inputBytes(source.file, io), source.column, source.file);
  }
}

export const inputBytes = (
  path: string,
  io: Pick<Io, 'stdin'> & { readonly signal?: AbortSignal },
): AsyncGenerator<Uint8Array> => (path === '-' ? stoppable(io.stdin, io.signal) : fileBytes(path, io.signal));

async function* fileBytes(path: string, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  signal?.throwIfAborted();
  try {
    yield* stoppable(await openInput(path), signal);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT')
      throw usageError(`file not found: ${path}`, 'check the path, or use - to read from stdin');
    if (code === 'EISDIR') throw usageError(`${path} is a folder`, 'give the name of a file in that folder');
    if (code === 'EACCES')
      throw usageError(`permission denied: ${path}`, 'make the file readable for your user');
    throw inWords('read', path, error);
  }
}

/** A FIFO is opened as a socket: a blocked read of a file would ignore signals, and `process.exit` would wait for it. */
async function openInput(path: string): Promise<Readable> {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if (!fstatSync(fd).isFIFO()) return createReadStream(path, { fd });
  const { Socket } = await import('node:net');
  return new Socket({ fd, readable: true, writable: false });
}

/** The bytes of a stream, as UTF-8 without a byte order mark. An aborted signal ends the wait for more bytes. */
async function* stoppable(stream: Readable, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const stop = () => stream.destroy();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    signal?.throwIfAborted();
    yield* toUtf8(stream);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  signal?.throwIfAborted();
}

async function* fromBytes(
  chunks: AsyncIterable<Uint8Array>,
  column: string | undefined,
  name: string,
): AsyncGenerator<Iterable<GivenSubject>> {
  if (column === undefined) return yield* fromLines(chunks, name);
  let at: number | undefined;
  let width = 0;
  for await (const { cells, line, separator } of readCsv(inputText(chunks))) {
    if (at === undefined) {
      if (cells.every((cell) => trimText(cell) === '')) continue;
      at = columnAt(cells, column);
      width = cells.length;
      continue;
    }
    const cell = trimText(cells[at] ?? '');
    // Cells that are separated by tabs cannot contain line breaks, but spreadsheets write such cells in quotes.
    if (separator === '\t' && cells.length < width && cells.some((each) => /^"(?:[^"]|"")*$/.test(each)))
      throw usageError(`line ${line} ends within a quoted cell`, 'save the table as CSV instead');
    if (cell !== '') yield [{ text: separator === '\t' ? cell.replace(/^"(.*)"$/, '$1') : cell, line }];
  }
  if (at === undefined)
    throw usageError(
      `the input is empty: it has no column "${column}"`,
      'start it with a line that names the columns',
    );
}

async function* fromLines(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Iterable<GivenSubject>> {
  const splitter = createLineSplitter(LONGEST_LINE);
  let first = true;
  function* subjectsOn(lines: Iterable<Line>): Generator<GivenSubject> {
    for (const { bytes, number, cut } of lines) {
      const line = bytes.toString('utf8');
      const trimmed = trimText(line);
      if (trimmed.startsWith('#') || (trimmed === '' && !cut)) continue;
      if (first) refuseTable(name, trimmed);
      first = false;
      // A line that was cut is longer than any subject, so the caller rejects it as an invalid subject.
      yield { text: cut ? line : trimmed, line: number };
    }
  }
  for await (const chunk of chunks) yield subjectsOn(splitter.push(chunk));
  yield subjectsOn(splitter.end());
}

/** Without --column, trdr would look up, and pay for, the header and whole lines as subjects. */
function refuseTable(name: string, first: string): void {
  const header = HEADER.exec(first)?.[1];
  // A word such as `user` or `wallet` is most likely a header in a table, but a handle in any other file.
  if (header !== undefined && /\.(?:csv|tsv|tab)$/i.test(name)) {
    const hint = `select this column with --column ${header}; if ${header} is a handle, write it as @${header}`;
    throw usageError(`${name} starts with a header: ${header}`, hint);
  }
  if (first.startsWith('@') || !/[,;"\t]/.test(first)) return;
  if (/[,;\t]/.test(first)) {
    throw usageError(
      `${name} contains several columns`,
      'select the column with the subjects: --column NAME (the first line must name the columns); or write one subject per line',
    );
  }
  throw usageError(
    `${name} contains quotes`,
    'remove the quotes, or name the column in the first line and select it: --column NAME',
  );
}

const HEADER = /^"?(subject|handle|user|username|user_?id|id|wallet|address)"?$/i;

function columnAt(header: readonly string[], column: string): number {
  const names = header.map((name) => name.trim());
  const exact = names.indexOf(column);
  if (exact !== -1) return exact;
  const folded = names.findIndex((name) => name.toLowerCase() === column.toLowerCase());
  if (folded !== -1) return folded;
  const near = didYouMean(column, names, (name) => `"${name}"`);
  throw usageError(
    `the input has no column "${column}"`,
    near || `choose from ${names.slice(0, 20).join(', ')}`,
  );
}

/** The maximum length of a line in bytes; subjects and most comment lines are shorter. */
const LONGEST_LINE = 4096;

export async function* inputText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  for await (const chunk of chunks) yield decoder.write(Buffer.from(chunk));
  yield decoder.end();
}

const UTF8 = Buffer.from('\uFEFF');
/** The byte order marks of UTF-16, which Windows PowerShell and spreadsheets write. */
const UTF16 = [
  { mark: Buffer.from([0xff, 0xfe]), name: 'utf-16le' },
  { mark: Buffer.from([0xfe, 0xff]), name: 'utf-16be' },
] as const;

const startsWith = (bytes: Buffer, mark: Buffer) => bytes.subarray(0, mark.length).equals(mark);
const mayBecomeMark = (bytes: Buffer) =>
  [UTF8, ...UTF16.map(({ mark }) => mark)].some(
    (mark) => bytes.length < mark.length && startsWith(mark, bytes),
  );

/** Removes the byte order mark, if there is one. If it is a mark of UTF-16, also converts the input to UTF-8. */
async function* toUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let head: Buffer<ArrayBufferLike> | undefined = Buffer.alloc(0);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const chunk of chunks) {
    let bytes: Buffer = Buffer.from(chunk);
    if (head) {
      head = Buffer.concat([head, bytes]);
      if (mayBecomeMark(head)) continue;
      bytes = startsWith(head, UTF8) ? head.subarray(UTF8.length) : head;
      const wide = UTF16.find(({ mark }) => startsWith(bytes, mark));
      decoder = wide && new TextDecoder(wide.name);
      head = undefined;
    }
    yield decoder ? Buffer.from(decoder.decode(bytes, { stream: true })) : bytes;
  }
  if (head) yield head;
  else if (decoder) yield Buffer.from(decoder.decode());
}

export async function readAll(
  { stdin }: Pick<Io, 'stdin'>,
  most: number,
  signal: AbortSignal,
  path = '-',
): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of inputBytes(path, { stdin, signal })) {
    parts.push(part);
    length += part.length;
    if (length > most)
      throw usageError(
        `the input on stdin is larger than ${group(most)} bytes`,
        'check which program writes to stdin',
      );
  }
  return Buffer.concat(parts).toString('utf8');
}
