import { parseJson, stringifyJson } from '../../../base/json.ts';
import type { Sent } from '../../../contract/read-record.ts';
import { type WindowName, windowNames } from '../../../contract/records/pnl.ts';
import { rearm } from '../../../output/format/disarm-formula.ts';
import { rowFields, sortKeys, traderFields } from '../../../output/views/pnl-rows.ts';

type Cells = ReadonlyMap<string, string>;

const numberFields = new Set<string>([...sortKeys, 'followers', 'updatedAt']);
const knownFields = new Set<string>(rowFields);

/** Whether records can be restored from such rows. */
export const isRowHeader = (header: readonly string[]): boolean =>
  header.includes('window') && (header.includes('subject') || header.includes('handle'));

/** A record consists of consecutive rows with the same subject and different windows. `decimalCommas`: 1,5 means 1.5. */
export function createRowReader(header: readonly string[], decimalCommas = false) {
  const extras = header.filter((name) => !knownFields.has(name));
  let rows: Cells[] = [];

  const subjectOf = (row: Cells) => row.get('subject') || row.get('handle') || '';

  function take(): Sent | undefined {
    const [first] = rows;
    const record = first && recordOf(first, rows, extras, subjectOf(first));
    rows = [];
    return record;
  }

  /** Whether a row belongs to the present record. A window that occurs again begins a new record. */
  function continues(row: Cells): boolean {
    const [first] = rows;
    if (!first || subjectOf(first) !== subjectOf(row)) return false;
    return (
      row.get('status') === 'unmatched' || !rows.some((other) => other.get('window') === row.get('window'))
    );
  }

  return {
    push(cells: readonly string[]): Sent | undefined {
      const textIn = (name: string, cell = '') =>
        decimalCommas && numberFields.has(name)
          ? cell.replace(/^([+-]?\d+),(\d+)(e[+-]?\d+)?$/i, '$1.$2$3')
          : cell;
      const row: Cells = new Map(header.map((name, at) => [name, textIn(name, cells[at])]));
      const done = continues(row) ? undefined : take();
      rows.push(row);
      return done;
    },
    end: take,
  };
}

/** A cell as JSON text. Numbers are unchanged, with all digits; an empty cell becomes null. */
function jsonOf(name: string, cell: string): string {
  if (cell === '') return 'null';
  if (numberFields.has(name) || !knownFields.has(name)) {
    const value = parseJson(cell);
    if (value !== undefined && typeof value !== 'string') return cell;
  }
  if (name === 'updatedAt' && !Number.isNaN(Date.parse(cell))) return String(Date.parse(cell));
  return JSON.stringify(rearm(cell));
}

const member = (row: Cells, name: string) => `${JSON.stringify(name)}:${jsonOf(name, row.get(name) ?? '')}`;
const object = (members: readonly string[]) => `{${members.join(',')}}`;
/** The members with these names, without those for which the file has no column. */
const members = (row: Cells, names: readonly string[]) =>
  names.filter((name) => row.has(name)).map((name) => member(row, name));

function recordOf(first: Cells, rows: readonly Cells[], extras: readonly string[], subject: string): Sent {
  const own = rows.filter((row) => row.get('status') !== 'unmatched');
  const head = [`"subject":${JSON.stringify(rearm(subject))}`];
  if (first.get('found') === 'false') {
    return read(
      object([...head, '"found":false', `"code":${JSON.stringify(first.get('code') || 'NOT_OBSERVED')}`]),
    );
  }
  if (first.get('status') === 'failed') {
    const code = first.get('code') || 'FAILED';
    const unmatched = unmatchedOf(rows, extras);
    const error = {
      code,
      message: `failed with ${code} when it was exported`,
      ...(unmatched && { unmatched }),
    };
    return read(object([...head, '"found":null', `"error":${stringifyJson(error)}`]));
  }
  return read(object([...head, '"found":true', ...numbersOf(own, extras)]));
}

/** An unknown column belongs to the record if it has the same value in all rows, otherwise to the windows. */
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
    const numbers = hasNumbers ? object([...members(row, sortKeys), ...members(row, filled)]) : 'null';
    return [`"${name}":${numbers}`];
  });
  const common = extras.filter((name) => isCommon(name) && first.get(name) !== '');
  return [...members(first, traderFields), `"windows":${object(windows)}`, ...members(first, common)];
}

/** The entries of a batch answer that were not requested: the rows with the status `unmatched`. */
function unmatchedOf(rows: readonly Cells[], extras: readonly string[]): Sent[] | undefined {
  const byHandle = new Map<string, Cells[]>();
  for (const row of rows) {
    if (row.get('status') !== 'unmatched') continue;
    const handle = row.get('handle') ?? '';
    byHandle.set(handle, [...(byHandle.get(handle) ?? []), row]);
  }
  const entries = [...byHandle.values()].map((group) => read(object(numbersOf(group, extras))));
  return entries.length > 0 ? entries : undefined;
}

const isWindow = (name: string): name is WindowName => windowNames.some((known) => known === name);

/** This cast is safe: the text is always an object, because `object` made it. */
const read = (json: string): Sent => parseJson(json) as Sent;
