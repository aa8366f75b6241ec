import { addTo } from '../../base/add-to.ts';
import { type Failure, usageError } from '../../base/failure.ts';
import { parseJson, stringifyJson } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { sha256 } from '../../base/sha256.ts';
import { normalHandle } from '../../contract/handles.ts';
import { postTimeOf, type Sent } from '../../contract/read-record.ts';
import { type WindowName, windowNames } from '../../contract/records/pnl.ts';
import { FailedSubject, MissingSubject, type PnlRecord } from '../../contract/records/subject.ts';
import { readingFields, rowFields, sortKeys, traderFields } from '../../output/views/pnl-rows.ts';
import type { InputIo } from '../read-text.ts';
import {
  openRecords,
  otherValues,
  type RecordFile,
  unreadableFile,
  valuesIn,
} from '../record-file.ts';
import { type Cells, tableRows } from './table-rows.ts';

export async function* readExport(path: string, io: InputIo): AsyncGenerator<PnlRecord> {
  const file = await openRecords(path, io);
  const distinct = new DistinctRecords(file.name);
  for await (const { record, where } of file.format === 'table' ? rows(file) : values(file))
    if (distinct.add(record, where)) yield record;
}

/** A record, and where it is in the file, for messages. */
interface FoundRecord {
  readonly record: PnlRecord;
  readonly where: string;
}

async function* values(file: RecordFile): AsyncGenerator<FoundRecord> {
  const { name } = file;
  for await (const { value, where } of valuesIn(file)) {
    if (value === undefined) throw notAnExport(name, `${where} is not valid JSON`);
    yield { record: recordIn(value, name, where), where };
  }
}

/**
 * The subjects of an export, each of which has one record. A table whose rows were sorted has
 * several, each with some of the windows.
 */
class DistinctRecords {
  readonly #name: string;
  readonly #digests = new Map<string, string>();

  constructor(name: string) {
    this.#name = name;
  }

  /** False if the file has the same record already. */
  add(record: PnlRecord, where: string): boolean {
    const { subject } = record;
    const key = `${normalHandle(subject)} ${record['change'] === 'left'}`;
    const digest = sha256(stringifyJson(record)).slice(0, 16);
    const earlier = this.#digests.get(key);
    if (earlier === undefined) this.#digests.set(key, digest);
    if (earlier === undefined || earlier === digest) return earlier === undefined;
    const hint = 'keep one export in the file, and the rows of each subject together';
    throw otherValues(this.#name, subject, where, hint);
  }
}

const HINT = 'pass an export of "trdr pnl": csv, tsv, ndjson or json';
const notAnExport = (name: string, why: string): Failure => unreadableFile(name, why, HINT);

/**
 * If --fields omitted `subject` or `found`, they are derived from `handle` and `windows` where
 * possible.
 */
function recordIn(value: unknown, name: string, where: string): PnlRecord {
  const sent: Sent = isRecord(value) ? value : {};
  const subject = textOf(sent['subject']) ?? textOf(sent['handle']);
  const derived = 'windows' in sent ? true : undefined;
  const found = 'found' in sent ? sent['found'] : derived;
  const first = { subject, found };
  const record = readRecord({ ...first, ...sent, ...first, ...timesIn(sent) });
  if (!record) throw notAnExport(name, `${where} is not a record of "trdr pnl"`);
  return record;
}

/** A time that is text was written with --times iso. */
function timesIn(sent: Sent): Record<string, number> {
  const times: Record<string, number> = {};
  for (const name of timeFields) {
    const time = typeof sent[name] === 'string' ? postTimeOf(sent[name]) : null;
    if (time !== null) times[name] = time;
  }
  return times;
}

async function* rows(file: RecordFile): AsyncGenerator<FoundRecord> {
  const { name } = file;
  let group: Cells[] = [];
  let last = 1;
  const take = (where: string) => {
    const [first] = group;
    const record = first && recordIn(recordOf(first, group), name, where);
    group = [];
    return record ? [{ record, where }] : [];
  };
  for await (const { cells, line, separator } of tableRows(file, 'window', notAnExport)) {
    const textIn = (field: string, cell: string) =>
      numberFields.has(field) ? numberIn(cell, separator) : cell;
    const row: Cells = new Map([...cells].map(([field, cell]) => [field, textIn(field, cell)]));
    for (const [field, cell] of row) {
      if (!numberFields.has(field) || !isGrouped(cell)) continue;
      throw usageError(
        `line ${line} of ${name}: "${cell}" in the column ${field} is not a number`,
        'save the table with decimal points, and without separators of thousands',
      );
    }
    if (!continues(group, row)) yield* take(`the row before line ${line}`);
    group.push(row);
    last = line;
  }
  yield* take(`line ${last}`);
}

/** A spreadsheet that separates cells by semicolons writes `1,5` for 1.5. */
const numberIn = (cell: string, separator: string): string =>
  separator === ';' ? cell.replace(/^([+-]?\d+),(\d+)(e[+-]?\d+)?$/i, '$1.$2$3') : cell;

/** Digits with a comma, or with separators of thousands: not a number that trdr wrote. */
const isGrouped = (cell: string): boolean =>
  /^[+-]?\d[\d.,'\u2019\s]*$/.test(cell) && /[,'\u2019\s]|\..*\./.test(cell);

const timeFields = ['updatedAt', 'readAt'] as const;
const numberFields = new Set<string>([...sortKeys, 'followers', ...timeFields]);
const knownFields = new Set<string>(rowFields);

const subjectOf = (row: Cells) => row.get('subject') || row.get('handle') || '';

/** A record consists of consecutive rows with the same subject and different windows. */
const continues = (rows: readonly Cells[], row: Cells): boolean =>
  rows[0] !== undefined &&
  subjectOf(rows[0]) === subjectOf(row) &&
  (row.get('status') === 'unmatched' ||
    !rows.some((other) => other.get('window') === row.get('window')));

/** A cell as JSON text. Numbers are unchanged, with all digits; an empty cell becomes null. */
function jsonOf(name: string, cell: string): string {
  if (cell === '') return 'null';
  if (numberFields.has(name) || !knownFields.has(name)) {
    const value = parseJson(cell);
    if (value !== undefined && typeof value !== 'string') return cell;
  }
  return JSON.stringify(cell);
}

const member = (row: Cells, name: string) =>
  `${JSON.stringify(name)}:${jsonOf(name, row.get(name) ?? '')}`;
const object = (members: readonly string[]) => `{${members.join(',')}}`;
/** The members with these names, without those for which the file has no column. */
const members = (row: Cells, names: readonly string[]) =>
  names.filter((name) => row.has(name)).map((name) => member(row, name));

/**
 * The record of consecutive rows. The cast is safe, because the text is always that of an object.
 */
function recordOf(first: Cells, rows: readonly Cells[]): Sent {
  // A column of other windows must not replace those of the rows.
  const extras = [...first.keys()].filter((name) => !knownFields.has(name) && name !== 'windows');
  const own = rows.filter((row) => row.get('status') !== 'unmatched');
  const code = (fallback: string) => `"code":${JSON.stringify(first.get('code') || fallback)}`;
  const answered = () => {
    const reading = members(first, readingFields).filter((text) => !text.endsWith(':null'));
    if (first.get('found') === 'false') return ['"found":false', code('NOT_OBSERVED'), ...reading];
    if (first.get('status') !== 'failed')
      return ['"found":true', ...numbersOf(own, extras), ...reading];
    const error = [
      code('FAILED'),
      '"message":"failed when it was exported"',
      ...unmatchedOf(rows, extras),
    ];
    return ['"found":null', `"error":${object(error)}`];
  };
  return parseJson(
    object([`"subject":${JSON.stringify(subjectOf(first))}`, ...answered()]),
  ) as Sent;
}

/**
 * An unknown column belongs to the record if it has the same value in all rows, otherwise to the
 * windows.
 */
function numbersOf(rows: readonly Cells[], extras: readonly string[]): string[] {
  const [first] = rows;
  if (!first) return [];
  const isCommon = (name: string) => rows.every((row) => row.get(name) === first.get(name));
  const apart = extras.filter((name) => !isCommon(name));
  const windows = rows.flatMap((row) => {
    const name = row.get('window') ?? '';
    if (!isWindow(name)) return [];
    const hasNumbers = sortKeys.some((field) => (row.get(field) ?? '') !== '');
    const filled = apart.filter((field) => (row.get(field) ?? '') !== '');
    const numbers = hasNumbers
      ? object([...members(row, sortKeys), ...members(row, filled)])
      : 'null';
    return [`"${name}":${numbers}`];
  });
  const common = extras.filter((name) => isCommon(name) && first.get(name) !== '');
  return [
    ...members(first, traderFields),
    `"windows":${object(windows)}`,
    ...members(first, common),
  ];
}

/** The entries of a batch answer that were not requested: the rows with the status `unmatched`. */
function unmatchedOf(rows: readonly Cells[], extras: readonly string[]): string[] {
  const byHandle = new Map<string, Cells[]>();
  for (const row of rows) {
    if (row.get('status') === 'unmatched') addTo(byHandle, row.get('handle') ?? '', row);
  }
  const entries = [...byHandle.values()].map((group) => object(numbersOf(group, extras)));
  return entries.length > 0 ? [`"unmatched":[${entries.join(',')}]`] : [];
}

/**
 * The windows that are wanted, or else all that an export has. Throws if it lacks one of those that
 * are wanted.
 */
export function windowsOf(
  records: readonly PnlRecord[],
  path: string,
  wanted: readonly WindowName[],
): readonly WindowName[] {
  const there = new Set(
    records.flatMap((record) =>
      record.found === true && isRecord(record['windows']) ? Object.keys(record['windows']) : [],
    ),
  );
  const lacking = wanted.find((window) => there.size > 0 && !there.has(window));
  if (lacking !== undefined) {
    throw usageError(
      `${path} has no numbers for the window ${lacking}`,
      `choose from ${[...there].join(', ')}`,
    );
  }
  if (wanted.length > 0) return wanted;
  const present = windowNames.filter((window) => there.has(window));
  return present.length > 0 ? present : windowNames;
}

const isWindow = (name: string): name is WindowName =>
  windowNames.some((windowName) => windowName === name);

/** Validates only the fields that trdr added: those of the service were saved unchanged. */
export function readRecord(value: unknown): PnlRecord | undefined {
  if (!isRecord(value)) return undefined;
  const { subject, found } = value;
  if (typeof subject !== 'string') return undefined;
  if (found === true) return { ...value, subject, found };
  const missing = MissingSubject.safeParse(value);
  return missing.success ? missing.data : FailedSubject.safeParse(value).data;
}
