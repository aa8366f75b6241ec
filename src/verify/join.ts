import type { Verification, VerifiedFile } from '../contract/records/verification.ts';
import {
  type Certificate,
  type Stretch,
  stretchesOf,
  type Unread,
  without,
} from '../tail/certificate.ts';
import type { ScannedFile } from './scan.ts';

type Status = Verification['status'];
const worst: readonly Status[] = [
  'complete',
  'not verified yet',
  'gaps',
  'no certificate',
  'changed',
];

/**
 * A stretch in post times; both ends belong to it. One that is asked for without an end may extend
 * up to `now`.
 */
interface Asked {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly now?: number | undefined;
}

export type Compared = Pick<
  ScannedFile,
  'file' | 'certificate' | 'rows' | 'duplicates' | 'problems'
>;

/** Joins what the certificates of unchanged files vouch for, in any order of the files. */
export function joinFiles(scanned: readonly Compared[], asked: Asked = {}): Verification {
  const valid = scanned.flatMap(({ certificate, problems }) =>
    certificate && problems.length === 0 ? [certificate] : [],
  );
  const chain = chainOf(valid);
  const covered = valid.flatMap((certificate) => stretchesIn(certificate, chain));
  const isProven = (certificate: Certificate) => stretchesIn(certificate, chain).length > 0;
  const proven = new Set(valid.filter(isProven).map((file) => firstOf(file, chain)));
  const recorded = valid.flatMap(({ coverage }) => coverage.gaps);
  const files = scanned.map((one) => fileOf(one, chain, proven, covered));
  const { from, to } = askedStretch(asked, covered);
  const holes = from === null || to === null ? [] : without([{ from, to }], covered);
  const gaps = explain(holes, recorded, covered);
  const statuses: Status[] = files.map(({ status }) => status);
  if (gaps.length > 0) statuses.push('gaps');
  return {
    status: statuses.reduce(worse, 'complete'),
    from,
    to,
    rows: scanned.reduce((sum, { rows }) => sum + rows, 0),
    readAt: greatest(valid.flatMap(({ readAt }) => readAt ?? [])),
    gaps,
    files,
  };
}

const worse = (one: Status, other: Status): Status =>
  worst.indexOf(other) > worst.indexOf(one) ? other : one;

/**
 * What is asked for and not covered is a gap, so an end that is given counts even if it lies
 * outside of what is covered.
 */
function askedStretch(
  { from, to, now }: Asked,
  covered: readonly Stretch[],
): { readonly from: number | null; readonly to: number | null } {
  const first = least(covered.map((stretch) => stretch.from)) ?? to ?? null;
  const last = greatest(covered.map((stretch) => stretch.to)) ?? now ?? null;
  const begin = from ?? first;
  if (begin === null) return { from: null, to: null };
  if (to !== undefined) return { from: from ?? Math.min(begin, to), to };
  const isBeyond = from !== undefined && (last === null || last < from);
  return { from: begin, to: isBeyond ? Math.max(from, now ?? from) : last };
}

/** Certificates by the digest of their lines, by which a file names the one that it continues. */
type Chain = ReadonlyMap<string, Certificate>;

export const chainOf = (certificates: readonly Certificate[]): Chain =>
  new Map(
    certificates
      .filter(({ lines }) => lines.rows > 0)
      .map((certificate) => [certificate.lines.digest, certificate]),
  );

const previousOf = ({ lines: { previous } }: Certificate, chain: Chain): Certificate | undefined =>
  previous === null ? undefined : chain.get(previous);

/** The stretches of a file, from the newest post of the files that its chain continues. */
const stretchesIn = (certificate: Certificate, chain: Chain): Stretch[] =>
  stretchesOf(certificate, firstOf(certificate, chain).lines.before);

/** The files that a file continues, newest first. */
export function filesBefore(certificate: Certificate, chain: Chain): readonly Certificate[] {
  const before = new Set<Certificate>();
  for (
    let next = previousOf(certificate, chain);
    next && !before.has(next);
    next = previousOf(next, chain)
  )
    before.add(next);
  return [...before];
}

/** The first file of the chain to which a file belongs. */
const firstOf = (certificate: Certificate, chain: Chain): Certificate =>
  filesBefore(certificate, chain).at(-1) ?? certificate;

function fileOf(
  { file, certificate, rows, duplicates, problems }: Compared,
  chain: Chain,
  proven: ReadonlySet<Certificate>,
  covered: readonly Stretch[],
): VerifiedFile {
  if (!certificate || problems.length > 0) {
    const status = problems.length > 0 ? 'changed' : 'no certificate';
    return { file, status, from: null, to: null, rows, duplicates, gaps: [] };
  }
  const previous = previousOf(certificate, chain);
  const own = stretchesIn(certificate, chain).map((stretch) => ({
    ...stretch,
    from: Math.max(stretch.from, (previous?.verified ?? stretch.from - 1) + 1),
  }));
  const parts = own.filter(({ from, to }) => from <= to);
  const from = least(parts.map((part) => part.from));
  const to = greatest(parts.map((part) => part.to));
  const unread = from === null || to === null ? [] : without([{ from, to }], covered);
  const gaps = explain(unread, certificate.coverage.gaps, covered);
  // A part may be so short that it adds nothing to what its chain proves.
  const isProven = proven.has(firstOf(certificate, chain));
  return {
    file,
    status: statusOf(gaps, isProven),
    from,
    to,
    rows,
    duplicates,
    gaps,
  };
}

function statusOf(gaps: readonly Unread[], isProven: boolean): Status {
  if (gaps.length > 0) return 'gaps';
  return isProven ? 'complete' : 'not verified yet';
}

/** Divides holes, in order, by the gaps that were recorded, and states the reason of each part. */
function explain(
  holes: readonly Stretch[],
  recorded: readonly Unread[],
  covered: readonly Stretch[],
): Unread[] {
  const whyOf = reasons(covered);
  const byFrom = [...recorded].sort((one, other) => one.from - other.from);
  const parts: Unread[] = [];
  /**
   * The recorded gaps that begin before the end of the present hole, and end after the last one.
   */
  let near: Unread[] = [];
  let next = 0;
  for (const hole of holes) {
    for (let gap = byFrom[next]; gap && gap.from <= hole.to; gap = byFrom[++next]) near.push(gap);
    near = near.filter(({ to }) => to >= hole.from);
    const explained = distinct(
      near.map(({ from, to, why }) => ({
        from: Math.max(from, hole.from),
        to: Math.min(to, hole.to),
        why,
      })),
    );
    const rest = without([hole], explained).map((part) => ({ ...part, why: whyOf(part) }));
    const inOrder = [...explained, ...rest].sort((one, other) => one.from - other.from);
    for (const part of inOrder) parts.push(part);
  }
  return parts;
}

/** Gaps of several files may be the same. */
const distinct = (gaps: readonly Unread[]): Unread[] => [
  ...new Map(gaps.toReversed().map((gap) => [`${gap.from} ${gap.to}`, gap])).values(),
];

/** The reason of a hole that no gap explains. */
function reasons(covered: readonly Stretch[]): (hole: Stretch) => string {
  const first = least(covered.map(({ from }) => from));
  const last = greatest(covered.map(({ to }) => to));
  return ({ from, to }) => {
    if (first === null || last === null) return 'nothing is verified yet';
    if (to < first) return 'it is before the first verified post time';
    return from > last ? 'it is after the last verified post time' : 'no unchanged file covers it';
  };
}

const least = (values: readonly number[]): number | null =>
  values.reduce((one: number | null, other) => Math.min(one ?? other, other), null);
const greatest = (values: readonly number[]): number | null =>
  values.reduce((one: number | null, other) => Math.max(one ?? other, other), null);
