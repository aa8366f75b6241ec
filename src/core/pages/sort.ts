import { numberOf } from '../../contract/read-record.ts';

type Sortable = Readonly<Record<string, unknown>>;

/** `segments.0.text`. */
function valueAt(record: Sortable, path: string): unknown {
  let value: unknown = record;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}

/**
 * Numbers from the largest, text from the smallest; `reverse` swaps both. Missing values come last.
 */
export function sortBy<T extends Sortable>(
  records: readonly T[],
  field: string,
  reverse: boolean,
): T[] {
  const keyed = records.map((record) => ({ record, value: valueAt(record, field) }));
  const sign = reverse ? -1 : 1;
  return keyed
    .sort((one, other) => sign * compare(one.value, other.value) || gap(one.value, other.value))
    .map(({ record }) => record);
}

const isMissing = (value: unknown) => value === undefined || value === null;

/** Records without the field come last, even if the order is reversed. */
const gap = (one: unknown, other: unknown): number =>
  Number(isMissing(one)) - Number(isMissing(other));

function compare(one: unknown, other: unknown): number {
  if (isMissing(one) || isMissing(other)) return 0;
  const first = numberOf(one);
  const second = numberOf(other);
  if (first !== undefined && second !== undefined) return second - first;
  if (first !== undefined || second !== undefined) return first === undefined ? 1 : -1;
  const text = String(one).toLowerCase();
  const otherText = String(other).toLowerCase();
  if (text === otherText) return 0;
  return text < otherText ? -1 : 1;
}
