import { plainJson } from '../../base/json-object.ts';
import { fieldsReply } from '../connection.ts';

/** Identifies a post: its id, and its post time (null if the service sent none). */
export interface FeedPoint {
  readonly id: string;
  readonly at: number | null;
}

export interface StreamRow extends FeedPoint {
  readonly entry: string;
  readonly body: string;
  /** The id of the post that was published before this one, or the beginning of the feed; empty if it is not known. */
  readonly prev: string;
  /** The stream has had all posts up to this post time before this one; null if it is not known. */
  readonly verified: number | null;
}

/** Whether a feed begins with this post: its leader knew of no earlier one. Another leader may continue the same beginning. */
export const isBeginning = ({ prev }: Pick<StreamRow, 'prev'>): boolean => prev.startsWith('born:');

/** For a post without a time, the store contains an empty text. */
export function timeFrom(text: string | undefined): number | null {
  const at = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(at) ? at : null;
}

/** Parses the entries in a reply of XRANGE or a similar command. Skips entries that other programs wrote. */
export function readEntries(answer: unknown): StreamRow[] {
  const rows: StreamRow[] = [];
  for (const pair of Array.isArray(answer) ? answer : []) {
    const [entry, flat]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    if (typeof entry !== 'string' || !Array.isArray(flat)) continue;
    const fields = fieldsReply(flat);
    const [id, body, prev = ''] = [fields.get('id'), fields.get('body'), fields.get('prev')];
    if (id === undefined || body === undefined || !isLine(body)) continue;
    const [at, verified] = [timeFrom(fields.get('at')), timeFrom(fields.get('verified'))];
    rows.push({ entry, id, at, body, prev, verified });
  }
  return rows;
}

export function readStreams(answer: unknown): StreamRow[] {
  const [stream]: readonly unknown[] = Array.isArray(answer) ? answer : [];
  return Array.isArray(stream) ? readEntries(stream[1]) : [];
}

/** Anyone with write access to the store can write anything. */
function isLine(body: string): boolean {
  return !body.includes('\n') && body.startsWith('{') && plainJson(body) !== undefined;
}

export const entryMs = (entry: string): number => Number(entry.split('-')[0]) || 0;

export function isBefore(one: string, other: string): boolean {
  const [ms = 0, count = 0] = one.split('-').map(Number);
  const [otherMs = 0, otherCount = 0] = other.split('-').map(Number);
  return ms < otherMs || (ms === otherMs && count < otherCount);
}

/** The largest entry id that is smaller than `entry`, for commands that read the entries after an id. */
export function before(entry: string): string {
  const [ms = 0, count = 0] = entry.split('-').map(Number);
  if (count > 0) return `${ms}-${count - 1}`;
  return ms > 0 ? `${ms - 1}-18446744073709551615` : '0-0';
}
