import { usageError } from '../base/failure.ts';
import { rearm } from '../base/formulas.ts';
import { linesIn } from './read-text.ts';

export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
  readonly separator: Separator;
}

type Separator = ',' | ';' | '\t';

/** The maximum length of a row in characters. Rows with subjects are much shorter. */
export const LONGEST_ROW = 4 * 1024 * 1024;

/**
 * Parses CSV as a stream, and undoes what makes an export of trdr safe for spreadsheets. With tabs
 * between the cells, there are no quotes, but escapes such as `\\n`.
 */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let separator: Separator | undefined;
  let row: string | undefined;
  let begun = 1;
  for await (const lines of linesIn(chunks, LONGEST_ROW)) {
    for (const { bytes, number, cut } of lines) {
      const text = bytes.toString('utf8');
      if (separator === undefined && text.trim() === '' && !cut) continue;
      separator ??= separatorOf(text);
      const isContinued = row !== undefined;
      if (row === undefined) begun = number;
      row = row === undefined ? text : `${row}\n${text}`;
      // Input without line breaks, such as `/dev/zero`, must not fill the memory.
      if (cut || row.length > LONGEST_ROW)
        throw usageError(
          `the row that begins on line ${begun} is longer than 4,194,304 characters`,
          'check that every quote in the file is closed',
        );
      if (isContinued && !text.includes('"')) continue;
      const cells = cellsOf(row.replace(/\r$/, ''), separator);
      if (cells === undefined) continue;
      row = undefined;
      yield { line: begun, cells: cells.map(rearm), separator };
    }
  }
  if (row !== undefined)
    throw usageError(
      `a quote in the row that begins on line ${begun} is never closed`,
      'close it; write a quote inside a value as ""',
    );
}

/**
 * Throws if a header names a column twice: which of them is meant is not known. `names` are those
 * that are read.
 */
export function checkHeader(
  file: string,
  header: readonly string[],
  names: readonly string[] = header,
): void {
  for (const name of names) {
    const places = header.flatMap((title, at) => (title === name ? [at + 1] : []));
    if (name === '' || places.length < 2) continue;
    throw usageError(
      `${file} has ${places.length} columns "${name}": ${places.join(' and ')}`,
      'rename or remove the one that is not meant',
    );
  }
}

const quotedCell = {
  ',': /(?:"([^"]*(?:""[^"]*)*)(")?)?([^,]*)(,|$)/y,
  ';': /(?:"([^"]*(?:""[^"]*)*)(")?)?([^;]*)(;|$)/y,
};

/** Undefined if a quote is not closed: the row then continues on the next line. */
function cellsOf(row: string, separator: Separator): string[] | undefined {
  if (separator === '\t') return row.split(separator).map(unescaped);
  if (!row.includes('"')) return row.split(separator);
  const cells: string[] = [];
  const pattern = quotedCell[separator];
  pattern.lastIndex = 0;
  for (;;) {
    const [, quoted, close, rest = '', end] = pattern.exec(row) ?? [];
    if (quoted !== undefined && close === undefined) return undefined;
    cells.push((quoted ?? '').replaceAll('""', '"') + rest);
    if (!end) return cells;
  }
}

const escapes: Readonly<Record<string, string>> = {
  '\\\\': '\\',
  '\\t': '\t',
  '\\n': '\n',
  '\\r': '\r',
};
const unescaped = (cell: string) => cell.replace(/\\[\\tnr]/g, (pair) => escapes[pair] ?? pair);

/** The most frequent separator in the first line, outside of quotes. */
function separatorOf(line: string): Separator {
  const marks = line.replace(/"[^"]*"?/g, '').match(/[,;\t]/g) ?? [];
  const count = (mark: Separator) => marks.filter((other) => other === mark).length;
  // A name may contain another separator, most likely a comma.
  const separators: readonly Separator[] = marks.length === 0 ? [','] : ['\t', ';', ','];
  return separators.reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}
