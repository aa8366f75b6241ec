import type { Failure } from '../../base/failure.ts';
import { type CsvRow, checkHeader, readCsv } from '../csv.ts';
import type { RecordFile } from '../record-file.ts';

export type Cells = ReadonlyMap<string, string>;

interface TableRow extends Pick<CsvRow, 'line' | 'separator'> {
  readonly cells: Cells;
}

/**
 * The rows of a table that trdr wrote, with their cells by the names of the columns. It needs
 * `column`, and one that names the subject. `unreadable` words why it cannot be read.
 */
export async function* tableRows(
  { name, text }: RecordFile,
  column: string,
  unreadable: (name: string, why: string) => Failure,
): AsyncGenerator<TableRow> {
  let header: readonly string[] | undefined;
  for await (const { cells, line, separator } of readCsv(text)) {
    if (cells.length === 1 && cells[0] === '') continue;
    if (!header) {
      header = cells;
      checkHeader(name, header);
      if (!header.includes(column) || !(header.includes('subject') || header.includes('handle')))
        throw unreadable(name, `its header needs the columns ${column} and subject (or handle)`);
      continue;
    }
    if (cells.length !== header.length)
      throw unreadable(
        name,
        `line ${line} has ${cells.length} cells, but the header has ${header.length}`,
      );
    yield { line, separator, cells: new Map(header.map((field, at) => [field, cells[at] ?? ''])) };
  }
}
