import { usageError } from '../base/failure.ts';
import { rearm } from '../base/formulas.ts';
import { isRecord, plainJson } from '../base/json-object.ts';
import type { Line } from '../base/lines.ts';
import { trimText } from '../base/trim-text.ts';
import { locate } from '../output/format/fields.ts';
import { didYouMean } from '../output/suggest.ts';
import { checkHeader, LONGEST_ROW, linesIn, readCsv } from './csv.ts';
import { type InputIo, inputText, peek } from './read-text.ts';
import { valuesIn } from './record-file.ts';

/** A subject as the user wrote it, with its place, such as `line 3`, if it comes from a file. */
interface GivenSubject {
  readonly text: string;
  readonly where?: string;
}

/** Where a command reads its subjects: from arguments (`words`), a file or stdin (`-`). */
export interface SubjectSource {
  readonly words: readonly string[];
  readonly file: string | undefined;
  readonly column: string | undefined;
  /** Whether the words are those of a file, so that even one is a list. */
  readonly isList?: boolean;
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

/**
 * Reads input only as the caller consumes subjects, so that memory does not grow with it. `check`
 * throws at an unusable one.
 */
export async function* readSubjects(
  source: SubjectSource,
  io: InputIo,
  check: (subject: GivenSubject) => void = () => {},
): AsyncGenerator<GivenSubject> {
  for await (const some of partsOf(source, io)) {
    for (const subject of some) {
      check(subject);
      yield subject;
    }
  }
}

/**
 * The subjects in parts, such as those of one chunk of input, because one promise per subject would
 * be slower.
 */
async function* partsOf(
  { words, file, column }: SubjectSource,
  io: InputIo,
): AsyncGenerator<Iterable<GivenSubject>> {
  const read = (path: string) => {
    const text = inputText(path, io);
    return column === undefined ? inLines(text, path) : inTable(text, column);
  };
  for (const word of words) {
    if (word === '-') yield* read(word);
    else yield [{ text: word }];
  }
  if (file !== undefined) yield* read(file);
}

async function* inTable(
  chunks: AsyncIterable<string>,
  column: string,
): AsyncGenerator<Iterable<GivenSubject>> {
  const { first, all } = await peek(chunks);
  if (first === '[' || first === '{') yield* inField(all, column, first === '[');
  else yield* inColumn(all, column);
}

async function* inColumn(
  chunks: AsyncIterable<string>,
  column: string,
): AsyncGenerator<Iterable<GivenSubject>> {
  let at: number | undefined;
  let width = 0;
  for await (const { cells, line, separator } of readCsv(chunks)) {
    if (at === undefined) {
      if (cells.every((cell) => trimText(cell) === '')) continue;
      if (cells.length === 1) refuseDrawn('the input', cells[0] ?? '');
      at = columnAt(cells, column);
      width = cells.length;
      continue;
    }
    const cell = trimText(cells[at] ?? '');
    if (/^(?:─+|-{3,})$/.test(cell)) throw drawn('the input');
    // Cells that are separated by tabs cannot contain line breaks, but spreadsheets write such
    // cells in quotes.
    if (
      separator === '\t' &&
      cells.length < width &&
      cells.some((each) => /^"(?:[^"]|"")*$/.test(each))
    )
      throw usageError(`line ${line} ends within a quoted cell`, 'save the table as CSV instead');
    if (cell !== '')
      yield [
        { text: separator === '\t' ? cell.replace(/^"(.*)"$/, '$1') : cell, where: `line ${line}` },
      ];
  }
  if (at === undefined)
    throw usageError(
      `the input is empty: it has no column "${column}"`,
      'start it with a line that names the columns',
    );
}

/** Reads a field, such as `authorHandle` of posts, of the records of NDJSON or of a JSON array. */
async function* inField(
  chunks: AsyncIterable<string>,
  field: string,
  isArray: boolean,
): AsyncGenerator<Iterable<GivenSubject>> {
  const reader = new FieldReader(field);
  if (isArray) {
    const file = { name: 'the input', format: 'json', text: chunks } as const;
    for await (const { value, where } of valuesIn(file)) yield reader.subjectsIn(value, where);
  } else {
    for await (const lines of linesIn(chunks, LONGEST_ROW)) yield reader.subjectsOn(lines);
  }
  reader.end();
}

/** Reads a field of records. Those without a value are skipped, as empty cells are. */
class FieldReader {
  readonly #field: string;
  /** The fields of the records so far, for the message if none has the field. */
  readonly #names = new Set<string>();

  constructor(field: string) {
    this.#field = field;
  }

  *subjectsOn(lines: Iterable<Line>): Generator<GivenSubject> {
    for (const { bytes, number } of lines) {
      const line = trimText(bytes.toString('utf8'));
      if (line !== '') yield* this.subjectsIn(plainJson(line), `line ${number}`);
    }
  }

  subjectsIn(record: unknown, where: string): readonly GivenSubject[] {
    if (!isRecord(record))
      throw usageError(
        `${where} of the input is not a JSON object`,
        'write one object per line: -o ndjson',
      );
    const place = locate(record, this.#field);
    if (!place) {
      for (const name of Object.keys(record)) this.#names.add(name);
      return [];
    }
    this.#names.add(this.#field);
    const value = place.holder[place.key];
    if (isRecord(value) || Array.isArray(value))
      throw usageError(
        `${where}: "${this.#field}" is not a text`,
        'select a field that contains a subject',
      );
    const text = trimText(String(value ?? ''));
    return text === '' ? [] : [{ text, where }];
  }

  /** Throws if no record had the field. */
  end(): void {
    if (this.#names.has(this.#field)) return;
    const others = [...this.#names].slice(0, 20);
    throw usageError(
      `no record of the input has the field "${this.#field}"`,
      didYouMean(this.#field, others, (name) => `"${name}"`) || `choose from ${others.join(', ')}`,
    );
  }
}

async function* inLines(
  chunks: AsyncIterable<string>,
  path: string,
): AsyncGenerator<Iterable<GivenSubject>> {
  let first = true;
  function* subjectsOn(lines: Iterable<Line>): Generator<GivenSubject> {
    for (const { bytes, number, cut } of lines) {
      const line = bytes.toString('utf8');
      const trimmed = trimText(line);
      if (trimmed.startsWith('#') || (trimmed === '' && !cut)) continue;
      if (first) refuseTable(path === '-' ? 'stdin' : path, trimmed);
      first = false;
      // A line that was cut is longer than any subject, so the caller rejects it as an invalid
      // subject.
      yield { text: cut ? line : rearm(trimmed), where: `line ${number}` };
    }
  }
  for await (const lines of linesIn(chunks, LONGEST_LINE)) yield subjectsOn(lines);
}

/**
 * trdr would look up, and pay for, the header and whole lines as subjects if --column is missing.
 */
function refuseTable(name: string, first: string): void {
  if (/^[[{]/.test(first)) {
    const hint = 'select the field with the subjects, such as --column authorHandle';
    throw usageError(`${name} contains JSON`, hint);
  }
  refuseDrawn(name, first);
  const header = first.replace(/^"(.*)"$/, '$1');
  if (HEADER.test(header)) {
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

/** A table as trdr draws it for people has no cells to read, and shortens wallets. */
function refuseDrawn(name: string, header: string): void {
  if (/^\||^[\w.%()-]+ {2,}\S/.test(header)) throw drawn(name);
}

const drawn = (name: string) =>
  usageError(
    `${name} is a table for people`,
    'write it again with -o csv, tsv, ndjson or json, and select the column with --column NAME',
  );

/**
 * A list of subjects with such a first line is one column of a table, also without the extension of
 * one, as from a pipe.
 */
const HEADER =
  /^(?:subject|id|wallet|address|twitter|(?:x|twitter|author|trader|user|account)?[ _-]?(?:handle|name|id)|author|trader|user|(?:evm|solana|wallet|user|author|trader)[ _-]?(?:wallet|address))$/i;

function columnAt(header: readonly string[], column: string): number {
  const names = header.map((name) => name.trim());
  checkHeader('the input', names, [column]);
  const exact = names.indexOf(column);
  if (exact !== -1) return exact;
  const folded = names.map((name) => name.toLowerCase());
  checkHeader('the input', folded, [column.toLowerCase()]);
  const at = folded.indexOf(column.toLowerCase());
  if (at !== -1) return at;
  const near = didYouMean(column, names, (name) => `"${name}"`);
  throw usageError(
    `the input has no column "${column}"`,
    near || `choose from ${names.slice(0, 20).join(', ')}`,
  );
}

/** The maximum length of a line in bytes; subjects and most comment lines are shorter. */
const LONGEST_LINE = 4096;
