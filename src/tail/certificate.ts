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

/** What a tail has delivered: every post after `after`, up to the position's `verified`, except in the gaps. */
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
  /** For a file that continues others: the newest post time in those, and the digest of the last one. */
  readonly before: number | null;
  readonly previous: string | null;
}

/** The filters of a feed, by the names of their flags. */
export type Filters = JsonObject;

export interface Certificate {
  readonly feed: string;
  readonly filters: Filters;
  readonly coverage: Coverage;
  /** Up to this post time, the feed is covered; null if it was never verified. */
  readonly verified: number | null;
  readonly lowest: number | null;
  readonly lines: FileLines;
  readonly bytes: number;
}

/** The stretches whose posts are all in the file; `before` is the newest post time of missing earlier files. */
export function stretchesOf(
  {
    coverage: { after, gaps },
    verified,
    lowest,
    lines,
  }: Omit<Certificate, 'feed' | 'filters' | 'bytes'>,
  before: number | null = lines.before,
): Stretch[] {
  if (verified === null) return [];
  // Without a start, the stretch begins with the oldest post that was seen.
  const start = after ?? (lowest === null ? verified : lowest - 1);
  return without([{ from: Math.max(start, before ?? start) + 1, to: verified }], gaps);
}

export function without(stretches: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  const left = others.reduce<readonly Stretch[]>(
    (parts, other) =>
      parts.flatMap(({ from, to }) =>
        [
          { from, to: Math.min(to, other.from - 1) },
          { from: Math.max(from, other.to + 1), to },
        ].filter((part) => part.from <= part.to),
      ),
    stretches,
  );
  return left.filter(({ from, to }) => from <= to);
}

export const certificateFields = (certificate: Certificate): JsonObject => {
  const { feed, filters, coverage, lines, ...rest } = certificate;
  const { gaps, after } = coverage;
  return { feed, filters, stretches: stretchesOf(certificate), gaps, ...lines, ...rest, after };
};

export function readCertificate(value: JsonObject): Certificate | undefined {
  const { feed, filters, bytes, verified, lowest } = value;
  const coverage = readCoverage(value);
  const lines = readFileLines(value);
  if (typeof feed !== 'string' || !isRecord(filters) || typeof bytes !== 'number') return undefined;
  if (!coverage || !lines || !isTime(verified) || !isTime(lowest)) return undefined;
  return {
    feed,
    filters,
    coverage,
    verified: timeOf(verified),
    lowest: timeOf(lowest),
    lines,
    bytes,
  };
}

export function readCoverage({ after, gaps }: JsonObject): Coverage | undefined {
  if (!isTime(after) || !Array.isArray(gaps) || !gaps.every(isUnread)) return undefined;
  return { after: timeOf(after), gaps };
}

function readFileLines(value: JsonObject): FileLines | undefined {
  const { rows, digest, first, last, newest, before, previous } = value;
  const isLines =
    typeof rows === 'number' &&
    typeof digest === 'string' &&
    /^[0-9a-f]{32}$/.test(digest) &&
    [first, last, previous].every((text) => text === null || typeof text === 'string') &&
    isTime(newest) &&
    isTime(before);
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

const isTime = (value: unknown): boolean => value === null || timeOf(value) !== null;
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const isUnread = (value: unknown): value is Unread =>
  isRecord(value) &&
  timeOf(value['from']) !== null &&
  timeOf(value['to']) !== null &&
  typeof value['why'] === 'string';
