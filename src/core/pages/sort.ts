import { numberOf } from '../../contract/read-record.ts';

type Sortable = Readonly<Record<string, unknown>>;

/** The value of a field, which may be nested: `segments.0.text`. */
function valueAt(record: Sortable, path: string): unknown {
  let value: unknown = record;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}

/**
 * Sorts records by a field: numbers in descending order, text in ascending order; `reverse` swaps both.
 * Records without the field always come last. Records with equal values stay in their original order.
 */
export function sortBy<T extends Sortable>(records: readonly T[], field: string, reverse: boolean): T[] {
  const keyed = records.map((record) => ({ record, value: valueAt(record, field) }));
  const sign = reverse ? -1 : 1;
  return keyed
    .sort((one, other) => sign * compare(one.value, other.value) || gap(one.value, other.value))
    .map(({ record }) => record);
}

const isMissing = (value: unknown) => value === undefined || value === null;

/** Puts a record without the field after a record with the field, even if the order is reversed. */
const gap = (one: unknown, other: unknown): number => Number(isMissing(one)) - Number(isMissing(other));

function compare(one: unknown, other: unknown): number {
  if (isMissing(one) || isMissing(other)) return 0;
  const [first, second] = [numberOf(one), numberOf(other)];
  if (first !== undefined && second !== undefined) return second - first;
  if (first !== undefined || second !== undefined) return first === undefined ? 1 : -1;
  const [a, b] = [String(one).toLowerCase(), String(other).toLowerCase()];
  return a < b ? -1 : a > b ? 1 : 0;
}
