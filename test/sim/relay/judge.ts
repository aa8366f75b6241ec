import { stretchesOf } from '../../../src/tail/certificate.ts';
import type { Post } from '../posts.ts';
import { above } from '../service.ts';
import type { FollowedRows } from './follower.ts';
import { type RelayOutcome, streamOf } from './world.ts';

/** How late a post may be found: after a poll, a takeover and the walks that verify the feed. */
const SETTLED_MS = 100_000;
/** How far a post that appeared late may be after the end of the gap in which it is missing. */
const LATE_MS = 120_000;

type Gap = FollowedRows['gaps'][number];

/** Describes what is wrong in a finished run of relays and followers; empty if nothing is. */
export function judgeRelay(outcome: RelayOutcome): string[] {
  const { schedule, service, store, followers, endsAt } = outcome;
  const start = outcome.first();
  if (!start?.top) return ['no relay read the feed'];
  const { top, held } = start;
  const due = service.posts.filter(
    (post) =>
      above(post, top) &&
      !held.has(post.id) &&
      post.visibleAt < endsAt - SETTLED_MS - schedule.service.lagMs,
  );
  const known = new Set(service.posts.map(({ id }) => id));
  const problemsOf = (
    where: string,
    ids: readonly string[],
    isExcused: (post: Post) => boolean,
  ): string[] => {
    const have = new Set(ids);
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
    return [
      ...due
        .filter((post) => !have.has(post.id) && !isExcused(post))
        .map(({ id, visibleAt }) => `${id} (${visibleAt}) is missing in ${where}`),
      ...twice.map((id) => `${id} is twice in ${where}`),
      ...ids.filter((id) => !known.has(id)).map((id) => `${id} in ${where} was never posted`),
    ];
  };
  const tokens = store.tokens.filter((token, at) => store.tokens.indexOf(token) !== at);
  const lost = new Set(store.lost.flatMap(streamOf));
  return [
    ...outcome.problems,
    // If relays have lost their files, posts that none of them published are missing. Followers report this gap.
    ...problemsOf('the stream', streamOf(store), ({ id }) => lost.has(id) || schedule.forgetful),
    ...followers.flatMap((follower, at) => {
      const ids = follower.rows.map(({ id }) => id);
      // A post that appears in pages only after its gap was filled is missing. A gap without a start is only reported.
      const isFilled = ({ visibleAt }: Post, gap: Gap) =>
        follower.fills && gap.from !== null && visibleAt < gap.at;
      return [
        ...problemsOf(
          `follower ${at}`,
          ids,
          (post) =>
            follower.earlier.includes(post.id) ||
            follower.gaps.some((gap) => isInGap(post, gap) && !isFilled(post, gap)),
        ),
        ...falseClaims(follower, service.posts).map((id) => `${id} is claimed by follower ${at}`),
        ...follower.gaps
          .filter((gap) => !isJustified(gap, follower, outcome))
          .map((gap) => `follower ${at} reported a gap at ${gap.at}`),
      ];
    }),
    ...tokens.map((token) => `two terms had the token ${token}`),
  ];
}

/** The posts that the certificate of a follower claimed when a process ended, and that its file did not have then. */
function falseClaims({ claims, rows }: FollowedRows, posts: readonly Post[]): string[] {
  return claims.flatMap(({ claims: { coverage, verified, lowest }, rows: many }) => {
    if (!coverage) return [];
    const stretches = stretchesOf({ coverage, verified, lowest, lines: noLines });
    const have = new Set(rows.slice(0, many).map(({ id }) => id));
    return posts
      .filter(
        ({ id, at, old }) => !have.has(id) && at !== null && !old && stretches.some(isAround(at)),
      )
      .map(({ id }) => id);
  });
}

const isAround =
  (at: number) =>
  ({ from, to }: { readonly from: number; readonly to: number }) =>
    from <= at && at <= to;
const noLines = {
  ...{ rows: 0, digest: '', first: null, last: null, newest: null, before: null, previous: null },
};

const isInGap = ({ at }: Post, { from, to }: Gap): boolean =>
  at === null ||
  ((from?.at ?? Number.NEGATIVE_INFINITY) <= at &&
    at <= (to.at ?? Number.POSITIVE_INFINITY) + LATE_MS);

/**
 * Whether a follower may report a gap: the store had lost everything, and the follower had not read all of it, or the
 * relays had lost their files too.
 */
function isJustified(gap: Gap, { rows }: FollowedRows, { store, schedule }: RelayOutcome): boolean {
  return store.lost.some(({ at, data }) => {
    if (at > gap.at) return false;
    const before = new Set(rows.filter((row) => row.at <= at).map(({ id }) => id));
    return schedule.forgetful || streamOf({ data }).some((id) => !before.has(id));
  });
}
