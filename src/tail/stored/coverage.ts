import type { KnownPosts } from '../known-posts.ts';
import type { Position } from '../position.ts';
import type { PostMark } from '../post-row.ts';

const never = Number.NEGATIVE_INFINITY;

/** Begins a run that has delivered nothing: posts up to this time were there before. */
export function startAt(posts: KnownPosts, from: number | null): void {
  [posts.start, posts.verified, posts.after] = [from, from, from];
}

export function rememberPosts(posts: KnownPosts, rows: readonly PostMark[]): void {
  for (const row of rows) {
    if (posts.isLate(row)) posts.addLate(row);
    else posts.add(row);
  }
}

/**
 * Adds what a position of the leader covers: the follower has read it, but for the posts of a hole.
 */
export function claim(posts: KnownPosts, leader: Position, isAfterHole: boolean): void {
  const { verified: to, ids, coverage, readAt } = leader;
  if (to === null || !coverage) return;
  posts.readAt = readAt ?? posts.readAt;
  const { after, gaps } = coverage;
  const from = posts.verified;
  const isEmpty = from === null || (posts.after !== null && posts.after >= from);
  const covered = Math.max(from ?? never, posts.after ?? never);
  // The feed of the leader may begin later. Missed posts are verified, or the leader knows their
  // ids.
  let edge = Math.max(isAfterHole ? to : never, after ?? never);
  if (isAfterHole)
    for (const [id, at] of ids) if (at !== null && !posts.has(id)) edge = Math.max(edge, at);
  if (edge > covered) {
    if (isEmpty) posts.after = Math.max(edge, covered);
    else posts.addGap({ from, to: edge, why: 'the store no longer had these posts' });
  }
  for (const gap of gaps) if (from === null || gap.to > from) posts.addGap(gap);
  posts.verify(to);
}
