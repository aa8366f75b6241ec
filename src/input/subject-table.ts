import { usageError } from '../base/failure.ts';
import { isRecord, plainJson } from '../base/json-object.ts';
import type { Line } from '../base/lines.ts';
import { didYouMean } from '../base/suggest.ts';
import { trimText } from '../base/trim-text.ts';
import { locate } from '../output/format/fields.ts';
import { checkHeader, LONGEST_ROW, readCsv } from './csv.ts';
import { drawn, type GivenSubject, refuseDrawn } from './given-subject.ts';
import { linesIn, peek } from './read-text.ts';
import { valuesIn } from './record-file.ts';

/** The subjects in one column of a table, or in one field of records. */
export async function* inTable(
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
      cells.some((cell) => /^"(?:[^"]|"")*$/.test(cell))
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
