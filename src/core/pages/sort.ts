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
 * Numbers from the largest, text from the smallest; `reverse` swaps both. Texts come after numbers
 * in both orders, because one in place of a number is as good as missing; missing values come last.
 */
export function sortBy<T extends Sortable>(
  records: readonly T[],
  field: string,
  reverse: boolean,
): T[] {
  const keyed = records.map((record) => ({ record, value: valueAt(record, field) }));
  const sign = reverse ? -1 : 1;
  return keyed
    .sort(
      ({ value: one }, { value: other }) =>
        rankOf(one) - rankOf(other) || sign * compare(one, other),
    )
    .map(({ record }) => record);
}

function rankOf(value: unknown): number {
  if (value === undefined || value === null) return 2;
  return numberOf(value) === undefined ? 1 : 0;
}

/** Compares values of one rank. */
function compare(one: unknown, other: unknown): number {
  const [first, second] = [numberOf(one), numberOf(other)];
  if (first !== undefined && second !== undefined) return second - first;
  const text = String(one).toLowerCase();
  const otherText = String(other).toLowerCase();
  if (text === otherText) return 0;
  return text < otherText ? -1 : 1;
}
