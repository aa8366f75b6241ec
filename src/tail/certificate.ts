import { isRecord, type JsonObject } from '../base/json-object.ts';
import { timeOf } from './post-row.ts';

/** A stretch of post times. Both ends belong to it. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Unread extends Stretch {
  readonly why: string;
}

/**
 * What a tail has delivered: every post after `after`, up to the position's `verified`, except in
 * the gaps.
 */
export interface Coverage {
  /** Null if the feed is covered from its beginning. */
  readonly after: number | null;
  readonly gaps: readonly Unread[];
}

export interface FileLines {
  readonly rows: number;
  readonly digest: string;
  readonly first: string | null;
  readonly last: string | null;
  /** The newest post time in the file, and in the files that it continues. */
  readonly newest: number | null;
  /**
   * The newest post time in the files that this one continues, and the digest of the last of them.
   */
  readonly before: number | null;
  readonly previous: string | null;
}

/** What the next file names as its previous one: no empty file, because all have one digest. */
export const linkTo = ({ rows, digest, previous }: FileLines): string | null =>
  rows === 0 ? previous : digest;

/** The filters of a feed, by the names of their flags. */
export type Filters = JsonObject;

export interface Certificate {
  readonly feed: string;
  readonly filters: Filters;
  readonly coverage: Coverage;
  /** Up to this post time, the feed is covered; null if it was never verified. */
  readonly verified: number | null;
  readonly lowest: number | null;
  /**
   * When the feed was last read completely, by the clock of this machine; null if this is not
   * known.
   */
  readonly readAt: number | null;
  /** Whether the service reported that nothing is older than the file. */
  readonly end?: boolean | undefined;
  readonly lines: FileLines;
  readonly bytes: number;
}

/**
 * The stretches whose posts are all in the file; `before` is the newest post time of missing
 * earlier files.
 */
export function stretchesOf(
  {
    coverage: { after, gaps },
    verified,
    lowest,
    lines,
  }: Pick<Certificate, 'coverage' | 'verified' | 'lowest' | 'lines'>,
  before: number | null = lines.before,
): Stretch[] {
  if (verified === null) return [];
  // Without a start, the stretch begins with the oldest post that was seen.
  const start = after ?? (lowest === null ? verified : lowest - 1);
  return without([{ from: Math.max(start, before ?? start) + 1, to: verified }], gaps);
}

/** The parts of the first stretches that are outside of the others, in order. */
export function without(stretches: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  const removed = joined(others);
  const left: Stretch[] = [];
  let next = 0;
  for (const { from, to } of joined(stretches)) {
    while ((removed[next]?.to ?? from) < from) next++;
    let start = from;
    for (let i = next; i < removed.length; i++) {
      const hole = removed[i];
      if (!hole || hole.from > to) break;
      if (hole.from - 1 >= start) left.push({ from: start, to: hole.from - 1 });
      start = Math.max(start, hole.to + 1);
    }
    if (start <= to) left.push({ from: start, to });
  }
  return left;
}

/** The same stretches in order, of which none overlap. */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const sorted = stretches
    .filter(({ from, to }) => from <= to)
    .sort((one, other) => one.from - other.from);
  const separate: { from: number; to: number }[] = [];
  for (const { from, to } of sorted) {
    const last = separate.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else separate.push({ from, to });
  }
  return separate;
}

export const certificateFields = (certificate: Certificate): JsonObject => {
  const { feed, filters, coverage, lines, ...rest } = certificate;
  const { gaps, after } = coverage;
  return { feed, filters, stretches: stretchesOf(certificate), gaps, ...lines, ...rest, after };
};

export function readCertificate(value: JsonObject): Certificate | undefined {
  const { feed, filters, bytes, verified, lowest, readAt = null } = value;
  const coverage = readCoverage(value);
  const lines = readFileLines(value);
  if (typeof feed !== 'string' || !isRecord(filters) || !isCount(bytes)) return undefined;
  if (!coverage || !lines || ![verified, lowest, readAt].every(isMoment)) return undefined;
  return {
    feed,
    filters,
    coverage,
    verified: timeOf(verified),
    lowest: timeOf(lowest),
    readAt: timeOf(readAt),
    end: value['end'] === true || undefined,
    lines,
    bytes,
  };
}

export function readCoverage({ after, gaps }: JsonObject): Coverage | undefined {
  if (!isMoment(after) || !Array.isArray(gaps) || !gaps.every(isUnread)) return undefined;
  return { after: timeOf(after), gaps };
}

function readFileLines(value: JsonObject): FileLines | undefined {
  const { rows, digest, first, last, newest, before, previous } = value;
  const isLines =
    isCount(rows) &&
    typeof digest === 'string' &&
    /^[0-9a-f]{32}$/.test(digest) &&
    [first, last, previous].every((text) => text === null || typeof text === 'string') &&
    isMoment(newest) &&
    isMoment(before);
  if (!isLines) return undefined;
  return {
    rows,
    digest,
    first: textOf(first),
    last: textOf(last),
    newest: timeOf(newest),
    before: timeOf(before),
    previous: textOf(previous),
  };
}

/** The times that a date can have; what is further away is damage. */
const LAST_MS = 8.64e15;

/** Whether a value is a time or null, as positions and certificates have them. */
export function isMoment(value: unknown): boolean {
  if (value === null) return true;
  const at = timeOf(value);
  return at !== null && Math.abs(at) <= LAST_MS;
}

export const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const isUnread = (value: unknown): value is Unread =>
  isRecord(value) &&
  value['from'] !== null &&
  value['to'] !== null &&
  isMoment(value['from']) &&
  isMoment(value['to']) &&
  typeof value['why'] === 'string';
