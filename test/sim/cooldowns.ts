import type { CooldownRule } from '../../src/tail/cooldown.ts';
import { duePosts } from './judge.ts';
import type { Post } from './posts.ts';
import { type Outcome, passes } from './world.ts';

const timeOf = ({ at }: Post) => at ?? 0;

/** What is wrong with an output from which a cooldown held posts back. */
export function judgeCooldown(
  outcome: Outcome,
  { withinMs }: CooldownRule,
  byId: ReadonlyMap<string, Post>,
): string[] {
  const { schedule, disk, processes, service } = outcome;
  const isNear = (one: Post, other: Post) =>
    one.symbol === other.symbol && Math.abs(timeOf(one) - timeOf(other)) < withinMs;
  const printed = disk.lines.map(({ id, record }) => ({
    post: byId.get(id),
    held: record?.['held'],
  }));
  const posts = printed.flatMap(({ post }) => post ?? []);
  // Without a file, what a process has written after its last position is written again.
  const mayRepeat =
    schedule.resume === 'checkpoint' &&
    processes.some(({ killed, isBlocked }) => killed || isBlocked);
  const problems = posts
    .filter(({ symbol }) => !passes(schedule, symbol))
    .map(({ id }) => `${id} does not pass`);
  if (posts.length < printed.length) problems.push('a record was never posted');
  for (const [index, post] of mayRepeat ? [] : posts.entries()) {
    const other = posts.slice(0, index).find((each) => isNear(each, post));
    if (other) problems.push(`${post.id} was printed within ${withinMs} ms of ${other.id}`);
  }
  for (const post of duePosts(outcome))
    if (!posts.some((each) => each === post || isNear(each, post)))
      problems.push(`${post.id} was lost`);
  for (const symbol of new Set(posts.map((post) => post.symbol))) {
    const held = printed
      .filter(({ post }) => post?.symbol === symbol)
      .reduce((sum, { held }) => sum + Number(held), 0);
    const others = service.posts.filter((post) => post.symbol === symbol && !posts.includes(post));
    if (!mayRepeat && !(held <= others.length))
      problems.push(`${held} posts about ${symbol} were held back, of ${others.length}`);
  }
  return problems;
}
