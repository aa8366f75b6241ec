import type { Verification, VerifiedFile } from '../../contract/records/verification.ts';
import {
  type Certificate,
  type Stretch,
  stretchesOf,
  type Unread,
  without,
} from '../../tail/certificate.ts';
import type { ScannedFile } from './scan.ts';

type Status = Verification['status'];
const worst: readonly Status[] = ['complete', 'gaps', 'no certificate', 'changed'];

/** In post times; both ends belong to it. */
interface Asked {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

type Compared = Pick<ScannedFile, 'file' | 'certificate' | 'rows' | 'duplicates' | 'problems'>;

/** Joins what the certificates of unchanged files vouch for, in any order of the files. */
export function joinFiles(scanned: readonly Compared[], asked: Asked = {}): Verification {
  const valid = scanned.flatMap(({ certificate, problems }) =>
    certificate && problems.length === 0 ? [certificate] : [],
  );
  const chain = new Map(valid.map((certificate) => [certificate.lines.digest, certificate]));
  const covered = valid.flatMap((certificate) =>
    stretchesOf(certificate, beforeChain(certificate, chain)),
  );
  const recorded = valid.flatMap(({ coverage }) => coverage.gaps);
  const files = scanned.map((one) => fileOf(one, chain, covered));
  const from = asked.from ?? least(covered.map((each) => each.from));
  const to = asked.to ?? greatest(covered.map((each) => each.to));
  const holes = from === null || to === null ? [] : without([{ from, to }], covered);
  const gaps = holes.flatMap((hole) => explain(hole, recorded, covered));
  const isCovered = covered.length > 0 && gaps.length === 0;
  const found: Status[] = [...files.map(({ status }) => status), isCovered ? 'complete' : 'gaps'];
  return {
    status: found.reduce((one, other) => (worst.indexOf(other) > worst.indexOf(one) ? other : one)),
    ...{ from, to },
    rows: scanned.reduce((sum, { rows }) => sum + rows, 0),
    gaps,
    files,
  };
}

type Chain = ReadonlyMap<string, Certificate>;

const previousOf = ({ lines: { previous } }: Certificate, chain: Chain): Certificate | undefined =>
  previous === null ? undefined : chain.get(previous);

/** The newest post time in the files that a chain of files continues. */
function beforeChain(certificate: Certificate, chain: Chain): number | null {
  const seen = new Set<Certificate>();
  let first = certificate;
  for (
    let next = previousOf(first, chain);
    next && !seen.has(next);
    next = previousOf(first, chain)
  ) {
    seen.add(first);
    first = next;
  }
  return first.lines.before;
}

function fileOf(
  { file, certificate, rows, duplicates, problems }: Compared,
  chain: Chain,
  covered: readonly Stretch[],
): VerifiedFile {
  if (!certificate || problems.length > 0) {
    const status = problems.length > 0 ? 'changed' : 'no certificate';
    return { file, status, from: null, to: null, rows, duplicates, gaps: [] };
  }
  const previous = previousOf(certificate, chain);
  const own = stretchesOf(certificate, beforeChain(certificate, chain)).map((each) => ({
    ...each,
    from: Math.max(each.from, (previous?.verified ?? each.from - 1) + 1),
  }));
  const parts = own.filter(({ from, to }) => from <= to);
  const from = least(parts.map((each) => each.from));
  const to = greatest(parts.map((each) => each.to));
  const unread = from === null || to === null ? [] : without([{ from, to }], covered);
  const gaps = unread.flatMap((hole) => explain(hole, certificate.coverage.gaps, covered));
  const isPart =
    [...chain.values()].some((other) => previousOf(other, chain) === certificate) || previous;
  const isEmpty = from === null && !isPart;
  return {
    file,
    status: gaps.length > 0 || isEmpty ? 'gaps' : 'complete',
    from,
    to,
    rows,
    duplicates,
    gaps,
  };
}

/** Divides a hole by the gaps that were recorded, and states the reason of each part. */
function explain(
  hole: Stretch,
  recorded: readonly Unread[],
  covered: readonly Stretch[],
): Unread[] {
  const known = recorded.flatMap(({ from, to, why }) =>
    from <= hole.to && to >= hole.from
      ? [{ from: Math.max(from, hole.from), to: Math.min(to, hole.to), why }]
      : [],
  );
  const first = least(covered.map(({ from }) => from)) ?? Number.POSITIVE_INFINITY;
  const last = greatest(covered.map(({ to }) => to)) ?? Number.NEGATIVE_INFINITY;
  const rest = without([hole], known).map((part) => ({
    ...part,
    why:
      part.to < first
        ? 'it is before the first verified post time'
        : part.from > last
          ? 'it is after the last verified post time'
          : 'no unchanged file covers it',
  }));
  // Gaps of several files may overlap.
  const distinct = known.filter(
    (gap, i) => known.findIndex((one) => one.from === gap.from && one.to === gap.to) === i,
  );
  return [...distinct, ...rest].sort((a, b) => a.from - b.from);
}

const least = (values: readonly number[]): number | null =>
  values.reduce((one: number | null, other) => Math.min(one ?? other, other), null);
const greatest = (values: readonly number[]): number | null =>
  values.reduce((one: number | null, other) => Math.max(one ?? other, other), null);
