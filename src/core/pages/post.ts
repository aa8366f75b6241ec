import { numberSource } from '../../base/json.ts';
import { isNumber } from '../../base/json-object.ts';
import { countText } from '../../base/units.ts';
import { postTimeOf, type Sent } from '../../contract/read-record.ts';
import { PROOF } from './proof.ts';

/** A post of a page, a frame or a file. Its id and its time are read once. */
export interface PageRow<Id extends string | null = string | null> {
  /**
   * The id as text, which is also the cursor for older posts. Without one, a post cannot be
   * recognized if it is repeated.
   */
  readonly id: Id;
  /** The post time in epoch milliseconds; null if the post has no usable time. */
  readonly at: number | null;
  readonly record: Sent;
  /** The fields that say who wrote the post, if they are known without the record. */
  readonly author?: Sent | undefined;
  /**
   * Printing the original bytes is faster than serializing; null for rows from pages and
   * undocumented frames.
   */
  readonly raw: Uint8Array | null;
}

/** The row of a record. Whether its time is usable depends on the clock: see `withoutFutureTimes`. */
export const pageRow = (record: Sent, timeField: string): PageRow => ({
  id: postIdOf(record) ?? null,
  at: postTimeOf(record[timeField]),
  record,
  raw: null,
});

/** The id of a post. For a number, this is its text, because a double may not have all digits. */
export function postIdOf(post: Sent): string | undefined {
  const { id } = post;
  if (isNumber(id)) return numberSource(post, 'id') ?? String(id);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** A time further ahead is not the time of a post. */
const AHEAD_MS = 86_400_000;

/** A post that is dated more than a day ahead counts as a post without a time. */
export function withoutFutureTime<Id extends string | null>(
  row: PageRow<Id>,
  now: number,
): PageRow<Id> {
  if (!isAhead(row, now)) return row;
  const { id, record, author, raw } = row;
  return { id, at: null, record, author, raw };
}

/** Reports that times of files were not used, because the clock may be what is wrong. */
export const aheadText = (count: number): string =>
  `the times of ${countText(count, 'post')} are more than a day ahead of the clock, and not used`;

/**
 * The rows of a page, of which some may be dated too far ahead. For a reader that doubts its clock,
 * most of them are right, because then the clock is wrong; a few of them prove nothing.
 */
export function withoutFutureTimes<Id extends string | null>(
  rows: readonly PageRow<Id>[],
  now: number,
  doubtsClock: boolean,
): readonly PageRow<Id>[] {
  const ahead = rows.filter((row) => isAhead(row, now)).length;
  const isClockWrong = doubtsClock && ahead >= PROOF && 2 * ahead > rows.length;
  return isClockWrong || ahead === 0 ? rows : rows.map((row) => withoutFutureTime(row, now));
}

const isAhead = ({ at }: PageRow, now: number): boolean => at !== null && at > now + AHEAD_MS;
