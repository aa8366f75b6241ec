import { plainJson } from '../../base/json-object.ts';
import { fieldsReply } from '../replies.ts';

/** Identifies a post: its id, and its post time (null if the service sent none). */
export interface FeedPoint {
  readonly id: string;
  readonly at: number | null;
}

/** An entry of the stream of a feed: a post, and what its leader knew when it published it. */
export interface StreamRow extends FeedPoint {
  readonly entry: string;
  readonly body: string;
  /**
   * The id of the post that was published before this one, or the beginning of the feed; empty if
   * it is not known.
   */
  readonly prev: string;
  /** The stream has had all posts up to this post time before this one; null if it is not known. */
  readonly verified: number | null;
}

/**
 * Whether a feed begins with this post: its leader knew of no earlier one. Another leader may
 * continue the same beginning.
 */
export const isBeginning = ({ prev }: Pick<StreamRow, 'prev'>): boolean => prev.startsWith('born:');

/** A time in the store, which has an empty text for a post without a time. */
export function timeFrom(text: string | undefined): number | null {
  const at = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(at) ? at : null;
}

/**
 * Parses the entries in a reply of XRANGE or a similar command. Skips entries that other programs
 * wrote.
 */
export function readEntries(answer: unknown): StreamRow[] {
  const rows: StreamRow[] = [];
  for (const pair of Array.isArray(answer) ? answer : []) {
    const [entry, flat]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    if (typeof entry !== 'string' || !Array.isArray(flat)) continue;
    const fields = fieldsReply(flat);
    const id = fields.get('id');
    const body = fields.get('body');
    if (id === undefined || body === undefined || !isLine(body)) continue;
    rows.push({
      entry,
      id,
      at: timeFrom(fields.get('at')),
      body,
      prev: fields.get('prev') ?? '',
      verified: timeFrom(fields.get('verified')),
    });
  }
  return rows;
}

export function readStreams(answer: unknown): StreamRow[] {
  const [stream]: readonly unknown[] = Array.isArray(answer) ? answer : [];
  return Array.isArray(stream) ? readEntries(stream[1]) : [];
}

/**
 * Whether a body can be printed as a line: anyone with write access to the store can write
 * anything.
 */
function isLine(body: string): boolean {
  return !body.includes('\n') && body.startsWith('{') && plainJson(body) !== undefined;
}

/** The time of an entry, by the clock of the server. */
export const entryMs = (entry: string): number => Number(entry.split('-')[0]) || 0;

export function isBefore(one: string, other: string): boolean {
  const [ms = 0, count = 0] = one.split('-').map(Number);
  const [otherMs = 0, otherCount = 0] = other.split('-').map(Number);
  return ms < otherMs || (ms === otherMs && count < otherCount);
}

/** The smallest entry id of a time. */
export const startOf = (ms: number): string => `${Math.max(0, Math.floor(ms))}-0`;

/**
 * The largest entry id that is smaller than `entry`, for commands that read the entries after an
 * id.
 */
export function before(entry: string): string {
  const [ms = 0, count = 0] = entry.split('-').map(Number);
  if (count > 0) return `${ms}-${count - 1}`;
  return ms > 0 ? `${ms - 1}-18446744073709551615` : '0-0';
}
