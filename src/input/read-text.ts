import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { addAbortSignal, Readable } from 'node:stream';
import { Failure, usageError } from '../base/failure.ts';
import { errno, inWords, isAbsent } from '../base/files.ts';
import { type Line, LineSplitter } from '../base/lines.ts';
import { trimText } from '../base/trim-text.ts';
import { group } from '../base/units.ts';

/** The standard input of a run, and the signal that ends the wait for more of it. */
export interface InputIo {
  readonly stdin: Readable;
  readonly signal?: AbortSignal;
}

/** The text of a file or stdin (`-`), gzipped or not. An aborted signal ends the wait for more. */
export async function* inputText(path: string, { stdin, signal }: InputIo): AsyncGenerator<string> {
  signal?.throwIfAborted();
  try {
    const stream = path === '-' ? stdin : await openInput(path);
    const bytes = signal ? addAbortSignal(signal, stream) : stream;
    yield* decoded(unpacked(bytes, path === '-' ? 'stdin' : path));
  } catch (error) {
    signal?.throwIfAborted();
    throw path === '-' ? error : notReadable(path, error);
  }
  signal?.throwIfAborted();
}

/** A path that names no readable file is a mistake in the command line. */
export function notReadable(path: string, error: unknown): unknown {
  if (isAbsent(error)) return usageError(`file not found: ${path}`, 'check the path');
  const code = errno(error);
  if (code === 'EISDIR')
    return usageError(`${path} is a folder`, 'give the name of a file in that folder');
  if (code === 'EACCES')
    return usageError(`permission denied: ${path}`, 'make the file readable for your user');
  return inWords('read', path, error);
}

/**
 * A FIFO is opened as a socket: a blocked read of a file would ignore signals, and `process.exit`
 * would wait for it.
 */
export async function openInput(path: string): Promise<Readable> {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if (!fstatSync(fd).isFIFO()) return createReadStream(path, { fd });
  const { Socket } = await import('node:net');
  return new Socket({ fd, readable: true, writable: false });
}

export const DAMAGED = 'DAMAGED_GZIP';

/** The content of chunks, unpacked if it is gzipped. `name` is that of the file, for messages. */
export async function* unpacked(
  all: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Buffer, void, void> {
  const chunks = all[Symbol.asyncIterator]();
  const rest = { [Symbol.asyncIterator]: () => chunks };
  const { value: first, done } = await chunks.next();
  if (done) return;
  if (first[0] !== 0x1f || first[1] !== 0x8b) {
    try {
      yield first;
      yield* rest;
    } finally {
      // A reader that stops early closes the file.
      await chunks.return?.();
    }
    return;
  }
  const packed = (async function* () {
    // The chunk is reused.
    yield Buffer.from(first);
    for await (const chunk of rest) yield Buffer.from(chunk);
  })();
  const { createGunzip } = await import('node:zlib');
  const gunzip = createGunzip({ chunkSize: UNPACKED });
  const source = Readable.from(packed);
  source.on('error', (error) => gunzip.destroy(error));
  try {
    yield* source.pipe(gunzip);
  } catch (error) {
    if (!/^Z_/.test(errno(error))) throw error;
    throw new Failure('local', `${name} is damaged or incomplete`, { code: DAMAGED });
  } finally {
    source.destroy();
  }
}

async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of utf8Of(chunks)) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

/** The size of a chunk of what was gzipped. */
const UNPACKED = 64 * 1024;

const LONGEST_MARK = 3;
const UTF8_MARK = Buffer.from('\ufeff');

/**
 * A text in UTF-8 without its byte order mark. Windows PowerShell and spreadsheets write such
 * marks, and UTF-16 behind one.
 */
export async function* utf8Of(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const rest = chunks[Symbol.asyncIterator]();
  try {
    const head = await headOf(rest);
    const all = withHead(head, { [Symbol.asyncIterator]: () => rest });
    yield* recoded(all, encodingOf(head));
  } finally {
    // A reader that stops early closes the file.
    await rest.return?.();
  }
}

/** The first bytes, which show the encoding. */
async function headOf(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < LONGEST_MARK) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

async function* recoded(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<Uint8Array> {
  if (encoding === 'utf-8') {
    yield* chunks;
    return;
  }
  const decoder = new TextDecoder(encoding);
  for await (const bytes of chunks) yield Buffer.from(decoder.decode(bytes, { stream: true }));
  yield Buffer.from(decoder.decode());
}

async function* withHead(head: Buffer, rest: AsyncIterable<Uint8Array>) {
  const isMarked = head.subarray(0, LONGEST_MARK).equals(UTF8_MARK);
  yield isMarked ? head.subarray(LONGEST_MARK) : head;
  yield* rest;
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** So much blank text may come before the first character, which shows the format. */
const LONGEST_HEAD = 4096;

/** The first character that is not white space, which shows the format, and the whole text. */
export async function peek(
  chunks: AsyncIterable<string>,
): Promise<{ readonly first: string | undefined; readonly all: AsyncIterable<string> }> {
  const rest = chunks[Symbol.asyncIterator]();
  let head = '';
  // Endless blank input is left to the reader of CSV, whose lines are bounded.
  while (trimText(head) === '' && head.length < LONGEST_HEAD) {
    const { value, done } = await rest.next();
    if (done) break;
    head += value;
  }
  async function* all() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { first: trimText(head)[0], all: all() };
}

/** The whole text, if it is not longer than `maxBytes`. */
export async function readAll(
  { stdin }: Pick<InputIo, 'stdin'>,
  maxBytes: number,
  signal: AbortSignal,
  path = '-',
): Promise<string> {
  let text = '';
  for await (const part of inputText(path, { stdin, signal })) {
    text += part;
    if (text.length > maxBytes)
      throw usageError(
        `the input on stdin is larger than ${group(maxBytes)} bytes`,
        'check which program writes to stdin',
      );
  }
  return text;
}

/** The lines of each chunk, because one promise per line would be slower. */
export async function* linesIn(
  chunks: AsyncIterable<string>,
  longest: number,
): AsyncGenerator<Iterable<Line>> {
  const splitter = new LineSplitter(longest);
  for await (const chunk of chunks) yield splitter.push(Buffer.from(chunk));
  yield splitter.end();
}
