import type { KnownPosts } from '../known-posts.ts';
import type { Position } from '../position.ts';
import type { PostMark } from '../post-row.ts';

const never = Number.NEGATIVE_INFINITY;

/** Begins a run that has delivered nothing: posts up to this time were there before. */
export function startAt(known: KnownPosts, from: number | null): void {
  [known.start, known.verified, known.after] = [from, from, from];
}

export function rememberPosts(known: KnownPosts, rows: readonly PostMark[]): void {
  for (const row of rows) {
    if (known.isLate(row)) known.addLate(row);
    else known.add(row);
  }
}

/**
 * Adds what a position of the leader covers: the follower has read it, but for the posts of a hole.
 */
export function claim(known: KnownPosts, leader: Position, isAfterHole: boolean): void {
  const { verified: to, ids, coverage, readAt } = leader;
  if (to === null || !coverage) return;
  known.readAt = readAt ?? known.readAt;
  const { after, gaps } = coverage;
  const from = known.verified;
  const isEmpty = from === null || (known.after !== null && known.after >= from);
  const covered = Math.max(from ?? never, known.after ?? never);
  // The feed of the leader may begin later. Missed posts are verified, or the leader knows their
  // ids.
  let edge = Math.max(isAfterHole ? to : never, after ?? never);
  if (isAfterHole)
    for (const [id, at] of ids) if (at !== null && !known.has(id)) edge = Math.max(edge, at);
  if (edge > covered) {
    if (isEmpty) known.after = Math.max(edge, covered);
    else known.addGap({ from, to: edge, why: 'the store no longer had these posts' });
  }
  for (const gap of gaps) if (from === null || gap.to > from) known.addGap(gap);
  known.verify(to);
}
