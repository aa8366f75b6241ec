import { usageError } from '../../base/failure.ts';

/** A row of CSV, with the line on which it starts. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The maximum length of a row in characters. Rows with subjects are much shorter. */
const LONGEST_ROW = 4 * 1024 * 1024;

/**
 * Parses CSV as a stream. Quoted cells may contain separators, doubled quotes and line breaks. Throws if a
 * closing quote is missing or a row is too long.
 */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let cells: string[] = [];
  let cell = '';
  let line = 1;
  let before = '';
  let begun = 1;
  let quoted = false;
  // A quote or CR at the end of a chunk may be the first half of a doubled quote or CRLF.
  let pending: '"' | '\r' | '' = '';
  const row = () => {
    const done = { line: begun, cells: [...cells, cell] };
    cells = [];
    cell = '';
    begun = line;
    length = 0;
    return done;
  };
  let length = 0;
  for await (const chunk of chunks) {
    // Check the length after each chunk: input without line breaks, such as `/dev/zero`, must not fill the
    // memory.
    length += chunk.length;
    if (length > LONGEST_ROW)
      throw usageError(
        `the row that begins on line ${begun} is longer than 4,194,304 characters`,
        'check that every quote in the file is closed',
      );
    for (const char of chunk) {
      // CRLF is one line break.
      if (char === '\n' ? before !== '\r' : char === '\r') line++;
      before = char;
      if (pending === '"') {
        pending = '';
        if (char === '"') {
          cell += '"';
          continue;
        }
        quoted = false;
      } else if (pending === '\r') {
        pending = '';
        if (char === '\n') continue;
      }
      if (quoted) {
        if (char === '"') pending = '"';
        else cell += char;
      } else if (char === '"' && cell === '') quoted = true;
      else if (char === ',') {
        cells.push(cell);
        cell = '';
      } else if (char === '\n' || char === '\r') {
        if (char === '\r') pending = '\r';
        yield row();
      } else cell += char;
    }
  }
  if (quoted && pending !== '"')
    throw usageError(
      `a quote in the row that begins on line ${begun} is never closed`,
      'close it; write a quote inside a value as ""',
    );
  if (cell !== '' || cells.length > 0) yield row();
}
