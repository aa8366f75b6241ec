import { above } from '../service.ts';
import { type RelayOutcome, streamOf } from './world.ts';

/** How late a post may be found: after a poll, a takeover and the walks that verify the feed. */
const SETTLED_MS = 100_000;

/** Describes what is wrong in a finished run of relays and followers; empty if nothing is. */
export function judgeRelay(outcome: RelayOutcome): string[] {
  const { schedule, service, store, followers, endsAt } = outcome;
  const start = outcome.first();
  if (!start?.top) return ['no relay read the feed'];
  const { top, held } = start;
  const due = service.posts.filter(
    (post) =>
      above(post, top) && !held.has(post.id) && post.visibleAt < endsAt - SETTLED_MS - schedule.service.lagMs,
  );
  const known = new Set(service.posts.map(({ id }) => id));
  const problemsOf = (where: string, ids: readonly string[]): string[] => {
    const have = new Set(ids);
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
    return [
      ...due
        .filter(({ id }) => !have.has(id))
        .map(({ id, visibleAt }) => `${id} (${visibleAt}) is missing in ${where}`),
      ...twice.map((id) => `${id} is twice in ${where}`),
      ...ids.filter((id) => !known.has(id)).map((id) => `${id} in ${where} was never posted`),
    ];
  };
  const tokens = store.tokens.filter((token, at) => store.tokens.indexOf(token) !== at);
  return [
    ...outcome.problems,
    ...problemsOf('the stream', streamOf(store)),
    ...followers.flatMap(({ ids, gaps }, at) => [
      ...problemsOf(`follower ${at}`, ids),
      ...gaps.map((time) => `follower ${at} reported a gap at ${time}`),
    ]),
    ...tokens.map((token) => `two terms had the token ${token}`),
  ];
}
