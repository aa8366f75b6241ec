import { postIdOf, postTimeOf, usableTime } from '../core/pages/post.ts';

export type PostFields = Readonly<Record<string, unknown>>;

/** A position in the feed. The id is needed because several posts can have the same time. */
export interface PostMark {
  readonly id: string;
  /** The post time in epoch milliseconds; null if the post has no usable time. */
  readonly at: number | null;
}

export interface TailRow extends PostMark {
  readonly record: PostFields;
  /** The fields that say who wrote the post, if they are known without parsing the record. */
  readonly author?: PostFields | undefined;
  /**
   * Printing the original bytes is faster than serializing; null for rows from pages and
   * undocumented frames.
   */
  readonly raw: Uint8Array | null;
}

/**
 * The fields that say who wrote a post. Parsing the record of each frame for them would halve the
 * throughput.
 */
export const authorFieldsOf = (row: TailRow): PostFields => row.author ?? row.record;

/**
 * The row of a record; null if the record has no id, because its repetitions could not be
 * recognized.
 */
export function tailRow(record: PostFields, timeField: string): TailRow | null {
  const id = postIdOf(record);
  return id === undefined ? null : { id, at: postTimeOf(record[timeField]), record, raw: null };
}

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

export const timeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/**
 * The nth newest of these times, from 0 on; the oldest one if there are fewer, null without any.
 */
export function nthNewest(times: readonly (number | null)[], nth: number): number | null {
  const stated = times.filter((at) => at !== null).sort((a, b) => b - a);
  return stated[Math.min(nth, stated.length - 1)] ?? null;
}

/** A post that is dated more than a day ahead counts as a post without a time. */
export const usable = (row: TailRow, sigma: number | null, now: number): TailRow =>
  isAhead(row, sigma, now)
    ? { id: row.id, at: null, record: row.record, author: row.author, raw: row.raw }
    : row;

/** If most posts of a page are that far ahead, the clock of this machine is wrong. */
export function usableRows(
  rows: readonly TailRow[],
  sigma: number | null,
  now: number,
): readonly TailRow[] {
  const ahead = rows.filter((row) => isAhead(row, sigma, now)).length;
  return 2 * ahead > rows.length ? rows : rows.map((row) => usable(row, sigma, now));
}

const isAhead = ({ at }: TailRow, sigma: number | null, now: number) =>
  usableTime(at, Math.max(now, sigma ?? now)) !== at;
