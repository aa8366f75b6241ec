import { numberSource } from '../base/json.ts';

/** A record as the service sent it. */
export type PostFields = Readonly<Record<string, unknown>>;

/** A place in the feed: post time and id, since several posts can share a millisecond. */
export interface PostMark {
  readonly id: string;
  /** Post time of the service, epoch ms. */
  readonly at: number | null;
}

/** A post on its way through the tail, from a page or from a frame. */
export interface TailRow extends PostMark {
  /** On a post without a usable time: that of the next newer post on the page. Its own cannot be later. */
  readonly atMost?: number | undefined;
  readonly record: PostFields;
  /** The record's own bytes where they came as one line: cheaper to pass on than to write again. */
  readonly raw: Uint8Array | null;
}

/** The row of a record, or null where it has no id: nothing could distinguish it from others. */
export function tailRow(record: PostFields, timeField: string): TailRow | null {
  const id = idOf(record);
  return id === null ? null : { id, at: postTimeOf(record[timeField]), record, raw: null };
}

/** The rows of a page's items, and the posts among them that have no id. */
export function tailRows(
  items: readonly PostFields[],
  timeField: string,
): { readonly rows: readonly TailRow[]; readonly nameless: readonly PostFields[] } {
  const rows: TailRow[] = [];
  const nameless: PostFields[] = [];
  for (const item of items) {
    const row = tailRow(item, timeField);
    if (row) rows.push(row);
    else nameless.push(item);
  }
  return { rows, nameless };
}

/** A number can have more digits than a double keeps, so it is taken as it was written. */
function idOf(record: PostFields): string | null {
  const { id } = record;
  if (typeof id === 'number' && Number.isFinite(id)) return numberSource(record, 'id') ?? String(id);
  return typeof id === 'string' && id !== '' ? id : null;
}

/** A time that can be compared, or null. */
export const timeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

const DIGITS = /^\d{10,15}$/;
const DATE = /^\d{4}-\d\d-\d\d/;

/** The post time of a record, also where it came as text; null where it cannot be read. */
export function postTimeOf(value: unknown): number | null {
  if (typeof value !== 'string') return timeOf(value);
  if (DIGITS.test(value)) return Number(value);
  return DATE.test(value) ? timeOf(Date.parse(value)) : null;
}
