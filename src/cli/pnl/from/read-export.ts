import { extname } from 'node:path';
import { Failure, usageError } from '../../../base/failure.ts';
import { parseJson } from '../../../base/json.ts';
import { isRecord, textOf } from '../../../base/json-object.ts';
import type { Sent } from '../../../contract/read-record.ts';
import { FailedSubject, MissingSubject, type PnlRecord } from '../../../contract/records/subject.ts';
import { type CsvRow, linesIn, readCsv } from '../../args/csv-input.ts';
import { inputText } from '../../args/input.ts';
import type { Io } from '../../io.ts';
import type { Outcomes } from '../../lookup/tally.ts';
import { createRowReader, isRowHeader } from './delimited.ts';

type Format = 'table' | 'ndjson' | 'json';

const byExtension: Readonly<Record<string, Format>> = {
  '.csv': 'table',
  '.tsv': 'table',
  '.tab': 'table',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
};

export async function* readExport(path: string, io: Pick<Io, 'stdin' | 'signal'>): AsyncGenerator<PnlRecord> {
  const { first, chunks } = await peek(inputText(path, io));
  const format = byExtension[extname(path).toLowerCase()] ?? formatOf(first);
  const name = path === '-' ? 'stdin' : path;
  if (format === 'json') yield* wholeDocument(chunks, name);
  else if (format === 'ndjson') yield* lines(chunks, name);
  else yield* rows(readCsv(chunks), name);
}

/** Reads up to the first character that is not white space, to detect the format. */
async function peek(text: AsyncGenerator<string>) {
  let first = '';
  while (first.trim() === '') {
    const { value, done } = await text.next();
    if (done) break;
    first += value;
  }
  async function* chunks() {
    yield first;
    yield* text;
  }
  return { first: first.trimStart(), chunks: chunks() };
}

function formatOf(first: string): Format {
  if (first.startsWith('[')) return 'json';
  return first.startsWith('{') ? 'ndjson' : 'table';
}

const HINT = 'pass an export of "trdr pnl": csv, tsv, ndjson or json';
const notAnExport = (name: string, why: string): Failure => usageError(`cannot read ${name}: ${why}`, HINT);

/** If --fields omitted `subject` or `found`, they are derived from `handle` and `windows` where possible. */
function recordIn(value: unknown, name: string, where: string): PnlRecord {
  const sent: Sent = isRecord(value) ? value : {};
  const subject = textOf(sent['subject']) ?? textOf(sent['handle']);
  const found = 'found' in sent ? sent['found'] : 'windows' in sent ? true : undefined;
  const updatedAt = textOf(sent['updatedAt']);
  const time = updatedAt === undefined ? Number.NaN : Date.parse(updatedAt);
  const first = { subject, found };
  // If updatedAt is text, the file was written with --times iso.
  const last = Number.isNaN(time) ? first : { ...first, updatedAt: time };
  const record = readRecord({ ...first, ...sent, ...last });
  if (!record) throw notAnExport(name, `${where} is not a record of "trdr pnl"`);
  return record;
}

async function* wholeDocument(chunks: AsyncIterable<string>, name: string): AsyncGenerator<PnlRecord> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  const value = parseJson(text);
  if (value === undefined) throw notAnExport(name, 'it is not valid JSON');
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const [at, item] of list.entries()) yield recordIn(item, name, `item ${at + 1}`);
}

/** The maximum length of a line in bytes; no record is this long. */
const LONGEST_LINE = 4 * 1024 * 1024;

async function* lines(chunks: AsyncIterable<string>, name: string): AsyncGenerator<PnlRecord> {
  for await (const some of linesIn(chunks, LONGEST_LINE)) {
    for (const { bytes, number } of some) {
      const text = bytes.toString('utf8');
      if (text.trim() !== '') yield recordIn(parseJson(text), name, `line ${number}`);
    }
  }
}

async function* rows(all: AsyncIterable<CsvRow>, name: string): AsyncGenerator<PnlRecord> {
  let reader: ReturnType<typeof createRowReader> | undefined;
  let width = 0;
  let last = 1;
  for await (const { cells, line, separator } of all) {
    if (cells.length === 1 && cells[0] === '') continue;
    if (!reader) {
      if (!isRowHeader(cells))
        throw notAnExport(name, 'its header needs the columns window and subject (or handle)');
      // A spreadsheet that separates cells by semicolons writes `1,5` for 1.5.
      reader = createRowReader(cells, separator === ';');
      width = cells.length;
      continue;
    }
    if (cells.length !== width)
      throw notAnExport(name, `line ${line} has ${cells.length} cells, but the header has ${width}`);
    const record = reader.push(cells);
    if (record) yield recordIn(record, name, `the row before line ${line}`);
    last = line;
  }
  const record = reader?.end();
  if (record) yield recordIn(record, name, `line ${last}`);
}

/** Validates only the fields that trdr added: those of the service were saved unchanged. */
export function readRecord(value: unknown): PnlRecord | undefined {
  if (!isRecord(value)) return undefined;
  const { subject, found } = value;
  if (typeof subject !== 'string') return undefined;
  if (found === true) return { ...value, subject, found };
  const missing = MissingSubject.safeParse(value);
  return missing.success ? missing.data : FailedSubject.safeParse(value).data;
}

export const outcomeOf = (record: PnlRecord): Outcomes =>
  record.found === null ? { found: null, failure: failureOf(record) } : record;

function failureOf({ error }: Extract<PnlRecord, { found: null }>): Failure {
  const { code, message, status, hint } = error;
  const kind = status === 403 ? 'forbidden' : status === 400 ? 'usage' : 'answer';
  return new Failure(kind, message, { code, status, hint });
}
