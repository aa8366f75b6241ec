import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../output/suggest.ts';
import type { Io } from '../io.ts';
import { readCsv } from './csv-input.ts';

/** A subject as it was given, and where: words of the command line have no line. */
export interface InputFlags {
  readonly text: string;
  readonly line?: number;
}

/** Where a command's subjects come from. */
export interface SubjectSource {
  readonly words: readonly string[];
  readonly file: string | undefined;
  readonly column: string | undefined;
}

/** Checks the sources against each other, before anything is read. */
export function subjectSource(
  words: readonly string[],
  given: { readonly file: string | undefined; readonly column: string | undefined },
  what: string,
): SubjectSource {
  const fromStdin = words.includes('-');
  if (words.length === 0 && given.file === undefined) {
    throw usageError(`no ${what} is given`, `name one, or read them with --file FILE or from stdin with -`);
  }
  if (fromStdin && given.file !== undefined)
    throw usageError('- and --file both name an input', 'give one of them');
  if (given.column !== undefined && !fromStdin && given.file === undefined) {
    throw usageError('--column needs an input to take the column from', 'add --file FILE, or - for stdin');
  }
  return { words, file: given.file, column: given.column };
}

/** Every subject in order, read as it is needed: input without end does not grow in memory. */
export async function* readSubjects(
  source: SubjectSource,
  io: Pick<Io, 'stdin' | 'cwd'>,
): AsyncGenerator<InputFlags> {
  for (const word of source.words) {
    if (word === '-') yield* fromText(text(io.stdin), source.column, 'stdin');
    else yield { text: word };
  }
  if (source.file === '-') yield* fromText(text(io.stdin), source.column, 'stdin');
  else if (source.file !== undefined) yield* fromText(fileText(source.file), source.column, source.file);
}

async function* fileText(path: string): AsyncGenerator<string> {
  try {
    yield* text(createReadStream(path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw usageError(`there is no file ${path}`);
    if (code === 'EISDIR') throw usageError(`${path} is a folder`);
    if (code === 'EACCES') throw usageError(`${path} may not be read`);
    throw error;
  }
}

/** A byte stream as text, without its byte order mark. */
async function* text(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let first = true;
  for await (const chunk of stream) {
    let piece =
      typeof chunk === 'string'
        ? chunk
        : decoder.write(chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.alloc(0));
    if (piece === '') continue;
    if (first && piece.startsWith('\uFEFF')) piece = piece.slice(1);
    first = false;
    yield piece;
  }
  const rest = decoder.end();
  if (rest !== '') yield rest;
}

async function* fromText(
  chunks: AsyncIterable<string>,
  column: string | undefined,
  name: string,
): AsyncGenerator<InputFlags> {
  if (column === undefined) {
    let first = true;
    for await (const { text: line, number } of lines(chunks)) {
      const trimmed = line.trim();
      if (trimmed === '' || trimmed.startsWith('#')) continue;
      if (first) refuseTable(name, trimmed);
      first = false;
      yield { text: trimmed, line: number };
    }
    return;
  }
  let at: number | undefined;
  for await (const { cells, line } of readCsv(chunks)) {
    if (at === undefined) {
      at = columnAt(cells, column);
      continue;
    }
    const cell = (cells[at] ?? '').trim();
    if (cell !== '') yield { text: cell, line };
  }
  if (at === undefined) throw usageError(`the input is empty: it has no column "${column}"`);
}

/** Columns and headers are no subjects, and would be paid for as some that nobody holds. */
function refuseTable(name: string, first: string): void {
  const header = HEADER.exec(first)?.[1];
  // In a plain list such a word may well be a handle.
  if (header !== undefined && /\.csv$/i.test(name)) {
    const hint = `take its column with --column ${header}; a handle of that name is written @${header}`;
    throw usageError(`${name} begins with a header: ${header}`, hint);
  }
  if (first.startsWith('@') || !/[,;"\t]/.test(first)) return;
  throw usageError(`${name} has columns or quotes`, 'say which column holds the subjects: --column NAME');
}

const HEADER = /^"?(subject|handle|user|username|user_?id|id|wallet|address)"?$/i;

function columnAt(header: readonly string[], column: string): number {
  const names = header.map((name) => name.trim());
  const exact = names.indexOf(column);
  if (exact !== -1) return exact;
  const folded = names.findIndex((name) => name.toLowerCase() === column.toLowerCase());
  if (folded !== -1) return folded;
  const [only = ''] = names;
  // Some spreadsheets write them so, and a near name would be the whole line.
  if (names.length === 1 && /[;\t]/.test(only)) {
    throw usageError(
      `the input has no column "${column}": its columns are not told apart by commas`,
      'save it as CSV with commas',
    );
  }
  const near = didYouMean(column, names, (name) => `"${name}"`);
  throw usageError(
    `the input has no column "${column}"`,
    near || `its columns are ${names.slice(0, 20).join(', ')}`,
  );
}

async function* lines(chunks: AsyncIterable<string>): AsyncGenerator<{ text: string; number: number }> {
  let rest = '';
  let number = 0;
  for await (const chunk of chunks) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) yield { text: part, number: ++number };
  }
  if (rest !== '') yield { text: rest, number: ++number };
}
