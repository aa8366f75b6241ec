import { ConfluenceRecord } from '../../src/contract/records/confluence.ts';
import type { ConfluenceRule } from '../../src/tail/confluence.ts';
import { duePosts } from './judge.ts';
import type { Post } from './posts.ts';
import type { Outcome } from './world.ts';

/** A record of the output. */
interface Printed {
  readonly id: string;
  readonly version: number;
  readonly posts: readonly Post[];
}

/** What is wrong with the confluences in the output. They must follow from the posts, in whatever order these came. */
export function judgeConfluences(
  outcome: Outcome,
  rule: ConfluenceRule,
  byId: ReadonlyMap<string, Post>,
): string[] {
  const printed = outcome.disk.lines.map(({ record }): Printed => {
    const { id, version, posts } = ConfluenceRecord.parse(record);
    return { id, version, posts: posts.flatMap((post) => byId.get(String(post['id'])) ?? []) };
  });
  const groups = new Map(printed.map((record) => [record.id, record]));
  return [
    ...printed.flatMap((record) => unsound(record, rule)),
    ...versions(outcome, printed),
    ...missing(duePosts(outcome), [...groups.values()], rule),
  ];
}

const timeOf = ({ at }: Post) => at ?? 0;
const authorOf = ({ record }: Post) => String(record['authorId'] ?? record['wallet']);

/** Whether a post belongs to a confluence, unless its author is in it already. */
function isNear({ posts }: Printed, post: Post, { withinMs }: ConfluenceRule): boolean {
  const [first, last, at] = [posts[0], posts.at(-1), timeOf(post)];
  if (!first || !last || first.symbol !== post.symbol) return false;
  return at >= timeOf(first) - withinMs && at <= timeOf(last) + withinMs;
}

/** Whether enough different authors are within the time. */
const fires = (posts: readonly Post[], { authors, withinMs }: ConfluenceRule): boolean =>
  posts.some((first) => {
    const from = timeOf(first);
    const near = posts.filter((post) => timeOf(post) >= from && timeOf(post) <= from + withinMs);
    return new Set(near.map(authorOf)).size >= authors;
  });

function unsound({ id, posts }: Printed, rule: ConfluenceRule): string[] {
  const problems: string[] = [];
  if (new Set(posts.map(authorOf)).size < posts.length) problems.push(`${id} has an author twice`);
  if (!fires(posts, rule)) problems.push(`${id} does not have enough authors within the time`);
  for (let i = 1; i < posts.length; i++) {
    const [one, next] = [posts[i - 1], posts[i]];
    if (!one || !next) continue;
    const ms = timeOf(next) - timeOf(one);
    if (ms < 0 || ms > rule.withinMs)
      problems.push(`${next.id} in ${id} comes ${ms} ms after ${one.id}`);
    if (one.symbol !== next.symbol) problems.push(`${id} has several tokens`);
  }
  return problems;
}

/**
 * Each version of a confluence must follow the one before it, and have all of its posts. After a kill, a process without a
 * file prints again what its position does not cover.
 */
function versions({ schedule, processes }: Outcome, printed: readonly Printed[]): string[] {
  const mayRepeat =
    schedule.resume === 'checkpoint' &&
    processes.some(({ killed, isBlocked }) => killed || isBlocked);
  const last = new Map<string, Printed>();
  return printed.flatMap((record) => {
    const { id, version, posts } = record;
    const before = last.get(id);
    last.set(id, record);
    if (mayRepeat && version <= (before?.version ?? 0)) return [];
    if (version !== (before?.version ?? 0) + 1)
      return `${id} has version ${version} after ${before?.version}`;
    const gone = before?.posts.find((post) => !posts.includes(post));
    return gone ? `version ${version} of ${id} has lost ${gone.id}` : [];
  });
}

/** Confluences that were not printed, and posts that are missing in one. */
function missing(
  posts: readonly Post[],
  groups: readonly Printed[],
  rule: ConfluenceRule,
): string[] {
  const tokens = new Set(posts.map(({ symbol }) => symbol));
  const apart = posts.filter((post) => !groups.some((group) => isNear(group, post, rule)));
  const isMissing = (token: string) =>
    fires(
      apart.filter(({ symbol }) => symbol === token),
      rule,
    );
  const isUncounted = (post: Post) => {
    const near = groups.filter((group) => isNear(group, post, rule));
    return (
      near.length > 0 &&
      !near.some((group) => group.posts.some((each) => authorOf(each) === authorOf(post)))
    );
  };
  return [
    ...[...tokens].filter(isMissing).map((token) => `a confluence about ${token} is missing`),
    ...posts.filter(isUncounted).map(({ id }) => `${id} is not counted`),
  ];
}
