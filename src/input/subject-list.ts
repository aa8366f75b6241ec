import { usageError } from '../base/failure.ts';
import { rearm } from '../base/formulas.ts';
import type { Line } from '../base/lines.ts';
import { trimText } from '../base/trim-text.ts';
import { type GivenSubject, refuseDrawn } from './given-subject.ts';
import { type InputIo, inputText, linesIn } from './read-text.ts';

/** Where a command reads its subjects: from arguments (`words`), a file or stdin (`-`). */
export interface SubjectSource {
  readonly words: readonly string[];
  readonly file: string | undefined;
  readonly column: string | undefined;
  /** Whether the words are those of a file, so that even one is a list. */
  readonly isList?: boolean;
}

/** The subjects of a file, which `-` cannot be one of. */
export const sourceOf = (subjects: Iterable<string>): SubjectSource => ({
  words: [...subjects].filter((text) => text !== '-'),
  file: undefined,
  column: undefined,
  isList: true,
});

/** Checks that the given sources can be combined, before anything is read. */
export function subjectSource(
  words: readonly string[],
  flags: { readonly file: string | undefined; readonly column: string | undefined },
  what: string,
): SubjectSource {
  const fromStdin = words.includes('-');
  if (words.length === 0 && flags.file === undefined) {
    throw usageError(
      `no ${what} given`,
      `pass one as an argument, or read a list with --file FILE or from stdin with -`,
    );
  }
  if (fromStdin && flags.file !== undefined)
    throw usageError('- (stdin) and --file cannot be combined', 'use one of them');
  if (flags.column !== undefined && !fromStdin && flags.file === undefined) {
    throw usageError(
      '--column requires input from a file or stdin',
      'add --file FILE, or - to read from stdin',
    );
  }
  return { words, file: flags.file, column: flags.column };
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
  const read = async (path: string) => {
    const text = inputText(path, io);
    if (column === undefined) return inLines(text, path);
    const { inTable } = await import('./subject-table.ts');
    return inTable(text, column);
  };
  for (const word of words) {
    if (word === '-') yield* await read(word);
    else yield [{ text: word }];
  }
  if (file !== undefined) yield* await read(file);
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

/**
 * A list of subjects with such a first line is one column of a table, also without the extension of
 * one, as from a pipe.
 */
const HEADER =
  /^(?:subject|id|wallet|address|twitter|(?:x|twitter|author|trader|user|account)?[ _-]?(?:handle|name|id)|author|trader|user|(?:evm|solana|wallet|user|author|trader)[ _-]?(?:wallet|address))$/i;

/** The maximum length of a line in bytes; subjects and most comment lines are shorter. */
const LONGEST_LINE = 4096;
