import type { AuthorPosition } from '../../contract/records/position.ts';

/** What became of a position since an earlier output. */
export interface ComparedPosition extends AuthorPosition {
  /** `left` if only the earlier output has the position. */
  readonly change: 'new' | 'closed' | 'changed' | 'left';
  /** New minus old, for a position that both have. */
  readonly changes?: { readonly pnlUsd: number | null; readonly posts: number };
}

/**
 * The positions of an author that are not as they were, those that only the past has last: of those
 * that are wanted, or were.
 */
export function comparePositions(
  now: readonly AuthorPosition[],
  before: readonly AuthorPosition[],
  isWanted: (position: AuthorPosition) => boolean,
): readonly ComparedPosition[] {
  const earlier = new Map<AuthorPosition, AuthorPosition>();
  // What was closed keeps its closing time; what was open may have got one of those that are left.
  for (const isOpen of [false, true])
    for (const old of before) {
      if ((old.status === 'open') !== isOpen) continue;
      const same = now
        .filter((one) => !earlier.has(one) && isContinued(old, one))
        .sort(closedFirst);
      if (same[0] !== undefined) earlier.set(same[0], old);
    }
  const kept = new Set(earlier.values());
  const left = before.filter((old) => !kept.has(old) && isWanted(old));
  return [
    ...now
      .filter((one) => [one, earlier.get(one) ?? one].some(isWanted))
      .flatMap((one) => compared(one, earlier.get(one))),
    ...left.map((old) => ({ ...old, change: 'left' as const })),
  ];
}

/** An open position is closed at the first closing time after its posts, or still open. */
function isContinued(old: AuthorPosition, one: AuthorPosition): boolean {
  if (old.token !== one.token) return false;
  if (old.status !== 'open') return old.status === one.status && old.closedAt === one.closedAt;
  const isLater = one.closedAt === null ? one.status === 'open' : one.closedAt >= old.lastAt;
  return isLater && one.firstAt <= old.lastAt;
}

const closedFirst = (one: AuthorPosition, other: AuthorPosition): number =>
  (one.closedAt ?? Number.MAX_VALUE) - (other.closedAt ?? Number.MAX_VALUE);

function compared(one: AuthorPosition, old: AuthorPosition | undefined): ComparedPosition[] {
  if (old === undefined) return [{ ...one, change: 'new' }];
  const isKnown = one.pnlUsd !== null && old.pnlUsd !== null;
  const pnlUsd = isKnown ? Number(((one.pnlUsd ?? 0) - (old.pnlUsd ?? 0)).toFixed(6)) : null;
  const changes = { pnlUsd, posts: one.posts - old.posts };
  if (one.status !== old.status) return [{ ...one, change: 'closed', changes }];
  // Which of its older posts are read says how deep a reading went, and not what changed.
  const hasOtherDepth = one.firstAt !== old.firstAt && one.lastAt === old.lastAt;
  const isSame = one.pnlUsd === old.pnlUsd && (changes.posts === 0 || hasOtherDepth);
  return isSame ? [] : [{ ...one, change: 'changed', changes }];
}
