import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../suggest.ts';

type Bag = Readonly<Record<string, unknown>>;

/** An object with members, told from arrays and null. */
export const isObject = (value: unknown): value is Bag =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What stands in a record at a dotted path; undefined where nothing does. A member whose own name has dots counts too. */
export function at(record: unknown, path: string): unknown {
  if (!isObject(record)) return undefined;
  if (Object.hasOwn(record, path)) return record[path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const first = path.slice(0, dot);
    if (!Object.hasOwn(record, first)) continue;
    const found = at(record[first], path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Reads `--fields a,b.c` against the known paths; the parents of known paths are known too. */
export function parseFields(text: string, known: readonly string[]): readonly string[] {
  const asked = text.split(',').map((name) => name.trim());
  const names = [...new Set(asked.filter((name) => name !== ''))];
  const list = `fields: ${known.join(', ')}`;
  if (names.length === 0) throw usageError('--fields names no field', `known ${list}`);
  for (const name of names) {
    if (known.some((path) => path === name || path.startsWith(`${name}.`))) continue;
    const near = didYouMean(name, known);
    throw usageError(
      `there is no field ${JSON.stringify(name)}`,
      near === '' ? `known ${list}` : `${near} Known ${list}`,
    );
  }
  return names;
}

/** The fields asked for, in that order, each under its path as written; null where a record has none. */
export function pickFields(record: unknown, fields: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const path of fields) picked[path] = at(record, path) ?? null;
  return picked;
}
