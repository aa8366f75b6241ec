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
  readonly record: PostFields;
  /** The record's own bytes where they came as one line: cheaper to pass on than to write again. */
  readonly raw: Uint8Array | null;
}

/** The row of a record, or null where it has no id: nothing could notify it from others. */
export function tailRow(record: PostFields, timeField: string): TailRow | null {
  const id = record['id'];
  if (typeof id !== 'string' || id === '') return null;
  return { id, at: timeOf(record[timeField]), record, raw: null };
}

/** A post time that can be compared, or null. */
export const timeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
