import { parseJson } from '../../base/json.ts';
import type { StreamRow } from '../../store/feed/entry.ts';
import type { PostFields, TailRow } from '../post-row.ts';

/** A post from the store as a row of a tail. Its record is parsed on first use. */
export function streamedRow({ id, at, body }: StreamRow): TailRow {
  let parsed: PostFields | undefined;
  return {
    id,
    at,
    raw: Buffer.from(body),
    get record() {
      parsed ??= fieldsOf(body);
      return parsed;
    },
  };
}

function fieldsOf(body: string): PostFields {
  const value = parseJson(body);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Passes posts from a time on, and those without a time, if the filter passes them too. */
export const fromTime =
  (floor: number, filter: (row: TailRow) => boolean): ((row: TailRow) => boolean) =>
  (row) =>
    (row.at === null || row.at >= floor) && filter(row);
