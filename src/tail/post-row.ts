import { numberOf } from '../contract/read-record.ts';
import { type PageRow, pageRow } from '../core/pages/post.ts';

export type PostFields = Readonly<Record<string, unknown>>;

/** A position in the feed. The id is needed because several posts can have the same time. */
export interface PostMark {
  readonly id: string;
  /** The post time in epoch milliseconds; null if the post has no usable time. */
  readonly at: number | null;
}

/** A post with an id, without which its repetitions could not be recognized. */
export type TailRow = PageRow<string>;

/**
 * The fields that say who wrote a post. Parsing the record of each frame for them would halve the
 * throughput.
 */
export const authorFieldsOf = (row: TailRow): PostFields => row.author ?? row.record;

/** The row of a record; null if the record has no id. */
export function tailRow(record: PostFields, timeField: string): TailRow | null {
  const row = pageRow(record, timeField);
  return hasId(row) ? row : null;
}

export const hasId = (row: PageRow): row is TailRow => row.id !== null;

export const timeOf = (value: unknown): number | null => numberOf(value) ?? null;

/**
 * The nth newest of these times, from 0 on; the oldest one if there are fewer, null without any.
 */
export function nthNewest(times: readonly (number | null)[], nth: number): number | null {
  const stated = times.filter((at) => at !== null).sort((a, b) => b - a);
  return stated[Math.min(nth, stated.length - 1)] ?? null;
}
