import { usageError } from '../../base/failure.ts';
import { numberSource, setNumberSource } from '../../base/json.ts';
import { isRecord, type JsonObject } from '../../base/json-object.ts';
import { didYouMean } from '../../base/suggest.ts';
import type { CellKind, Column, View } from '../view.ts';

interface FieldPlace {
  readonly holder: JsonObject;
  readonly key: string;
  readonly names: readonly string[];
}

/**
 * Finds the value of a path. A name that contains dots is found too, because records may have such
 * names.
 */
export function locate(
  record: unknown,
  path: string,
  before: readonly string[] = [],
): FieldPlace | undefined {
  if (!isRecord(record)) return undefined;
  if (Object.hasOwn(record, path)) return { holder: record, key: path, names: [...before, path] };
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const first = path.slice(0, dot);
    if (!Object.hasOwn(record, first)) continue;
    const place = locate(record[first], path.slice(dot + 1), [...before, first]);
    if (place) return place;
  }
  return undefined;
}

/** @internal Exported for tests. */
export function at(record: unknown, path: string): unknown {
  const place = locate(record, path);
  return place?.holder[place.key];
}

export const valueIn = <T>(
  { value, field }: Pick<Column<T>, 'value' | 'field'>,
  record: T,
): unknown => (value ? value(record) : field && at(record, field));

const isKnownField = (name: string, paths: readonly string[]): boolean =>
  paths.some((path) => path === name || path.startsWith(`${name}.`));

/** A leading dot selects a field that is not in `paths`; the result is without it. */
export function parseFields(text: string, paths: readonly string[]): readonly string[] {
  const requested = text.split(',').map((name) => name.trim());
  const names = requested.filter((name) => name !== '');
  const list = `fields: ${paths.join(', ')}`;
  if (names.length === 0) throw usageError('--fields is empty', `available ${list}`);
  const selected = names.map((name) => {
    if (isKnownField(name, paths)) return name;
    const path = name.slice(1);
    if (name.startsWith('.') && path.split('.').every((part) => part !== '')) return path;
    const near = didYouMean(name, paths);
    throw usageError(
      `unknown field ${JSON.stringify(name)}`,
      `${near === '' ? 'available' : `${near} Available`} ${list}; a leading dot selects a field that is not listed`,
    );
  });
  return [...new Set(selected)];
}

/** The names of a member that is null, in which a field would be. */
function nullAbove(record: unknown, path: string): readonly string[] | undefined {
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const place = locate(record, path.slice(0, dot));
    if (place) return place.holder[place.key] === null ? place.names : undefined;
  }
  return undefined;
}

/**
 * Returns the requested fields in their order, nested as in the record. A field that the record
 * lacks is null; so is a member that is null, in place of one with fields.
 */
export function pickFields(record: unknown, fields: readonly string[]): JsonObject {
  const picked: Record<string, unknown> = {};
  for (const path of fields) {
    const place = locate(record, path);
    const names = place?.names ?? nullAbove(record, path) ?? path.split('.');
    if (names.length > 1 && fields.some((other) => path.startsWith(`${other}.`))) continue;
    let target = picked;
    for (const name of names.slice(0, -1)) target = childOf(target, name);
    const key = names.at(-1) ?? path;
    setMember(target, key, place ? place.holder[place.key] : null);
    const source = place && numberSource(place.holder, place.key);
    if (source !== undefined) setNumberSource(target, key, source);
  }
  return picked;
}

function childOf(target: Record<string, unknown>, name: string): Record<string, unknown> {
  const existing = Object.hasOwn(target, name) ? target[name] : undefined;
  if (isRecord(existing)) return existing;
  const child: Record<string, unknown> = {};
  setMember(target, name, child);
  return child;
}

/** Assigning to `__proto__` would change the prototype. */
const setMember = (target: object, name: string, value: unknown): void => {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
};

function kindOf(path: string, sample: unknown): CellKind {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (typeof sample === 'boolean') return 'flag';
  if (typeof sample === 'number') {
    if (/At$/.test(name)) return 'time';
    if (/(?:^pnl|^netUsd|PnlUsd)$/.test(name)) return 'signedUsd';
    if (/Usd$|Mcap$/.test(name)) return 'usd';
    if (/Pct$|[Pp]ercent|^percentage/.test(name)) return 'percent';
    return Number.isInteger(sample) ? 'integer' : 'number';
  }
  return /(?:[aA]ddress|[wW]allet|Mint|^subject)$/.test(name) ? 'address' : 'text';
}

/**
 * None is dropped or shortened. The view determines the kinds of its fields; others are guessed.
 */
export function columnsOf<T>(
  view: View<T>,
  fields: readonly string[],
  records: readonly T[],
): Column<T>[] {
  return fields.map((path) => {
    const shown = view.columns.find((column) => column.field === path);
    const sample = records
      .map((record) => at(record, path))
      .find((value) => value !== null && value !== undefined);
    const kind = shown?.kind ?? kindOf(path, sample);
    return {
      title: path,
      kind,
      value: (record: T) => at(record, path),
      whole: true,
      ...(kind === 'text' && { wrap: true, min: 24 }),
    };
  });
}
