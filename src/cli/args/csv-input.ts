import { usageError } from '../../base/failure.ts';

export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
  readonly separator: Separator;
}

type Separator = ',' | ';' | '\t';

/** The maximum length of a row in characters. Rows with subjects are much shorter. */
const LONGEST_ROW = 4 * 1024 * 1024;

/** Parses CSV as a stream. With tabs between the cells, there are no quotes, but escapes such as `\\n`. */
export async function* readCsv(all: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const { separator, chunks } = await sniff(all);
  const isQuoting = separator !== '\t';
  let cells: string[] = [];
  let cell = '';
  let line = 1;
  let before = '';
  let begun = 1;
  let quoted = false;
  // A quote or CR at the end of a chunk may be the first half of a doubled quote or CRLF.
  let pending: '"' | '\r' | '' = '';
  const row = () => {
    const whole = [...cells, cell];
    const done = { line: begun, cells: isQuoting ? whole : whole.map(unescaped), separator };
    cells = [];
    cell = '';
    begun = line;
    length = 0;
    return done;
  };
  let length = 0;
  for await (const chunk of chunks) {
    // Input without line breaks, such as `/dev/zero`, must not fill the memory.
    length += chunk.length;
    if (length > LONGEST_ROW)
      throw usageError(
        `the row that begins on line ${begun} is longer than 4,194,304 characters`,
        'check that every quote in the file is closed',
      );
    for (const char of chunk) {
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
      } else if (char === '"' && cell === '' && isQuoting) quoted = true;
      else if (char === separator) {
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

const escapes: Readonly<Record<string, string>> = { '\\\\': '\\', '\\t': '\t', '\\n': '\n', '\\r': '\r' };
const unescaped = (cell: string) => cell.replace(/\\[\\tnr]/g, (pair) => escapes[pair] ?? pair);

/** Finds the separator: the most frequent one in the first line with text, outside of quotes. */
async function sniff(text: AsyncIterable<string>) {
  const rest = text[Symbol.asyncIterator]();
  let head = '';
  while (head.length <= LONGEST_ROW && !/[^\r\n][\r\n]/.test(head)) {
    const { value, done } = await rest.next();
    if (done) break;
    head += value;
  }
  async function* chunks() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  const [line = ''] = head.trimStart().split(/[\r\n]/, 1);
  const marks = line.replace(/"[^"]*"?/g, '').match(/[,;\t]/g) ?? [];
  const count = (mark: Separator) => marks.filter((each) => each === mark).length;
  // A name may contain another separator, most likely a comma.
  const separators = marks.length === 0 ? ([','] as const) : (['\t', ';', ','] as const);
  const separator = separators.reduce<Separator>(
    (best, mark) => (count(mark) > count(best) ? mark : best),
    separators[0],
  );
  return { separator, chunks: chunks() };
}
