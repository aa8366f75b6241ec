import { type Rng, rngOf } from './rng.ts';
import type { Schedule } from './schedule.ts';

/** A post of the simulated service. Times are virtual, except `at` and `sortAt`, which use the service's clock. */
export interface Post {
  readonly id: string;
  /** The post time; null for a post without one. */
  readonly at: number | null;
  /** The sort key of the pages, and the tie-breaker. */
  readonly sortAt: number;
  readonly order: number;
  /** When pages show it, when the socket sends it, and when it is deleted. */
  readonly visibleAt: number;
  readonly sentAt: number;
  readonly goneAt: number;
  /** Whether the post is dated so far back that no walk finds it. */
  readonly old: boolean;
  /** Whether the record has no id. */
  readonly nameless: boolean;
  readonly symbol: string;
  readonly record: Readonly<Record<string, unknown>>;
}

/** The service's clock at virtual time 0. */
export const EPOCH = 1_700_000_000_000;
/** The age of the oldest posts at the start of the run. */
const PAST_MS = 900_000;
/** The last part of the calm phase, without new posts. */
const QUIET_MS = 30_000;
/** The maximum lateness of a post: the margin of the tail minus the lag of a replica and the duration of a page. */
const LATEST_MS = 90_000;
/** The range of ages of old posts. */
const OLD_MS = [600_000, 7_200_000] as const;

/** The duration of the calm phase after the faults, which is long enough for every late post and verification. */
export const calmMs = ({ lagMs }: Pick<Schedule, 'lagMs'>): number => 170_000 + lagMs;

/** A time in an undocumented format. */
const oddTime = (at: number, rng: Rng): unknown =>
  rng.pick<unknown>([
    new Date(at).toISOString(),
    String(at),
    at + 0.5,
    ...['soon', '', null, {}, true, 0, -1, Math.floor(at / 1_000), at * 1_000, 4e12],
  ]);

/** All posts of a schedule, in the order of the pages: newest first. */
export function postsOf(schedule: Schedule, rng: Rng): Post[] {
  const posts: Post[] = [];
  const ages = rngOf(schedule.seed, 4);
  const authors = rngOf(schedule.seed, 5);
  const end = schedule.busyMs + calmMs(schedule) - QUIET_MS - LATEST_MS;
  const add = (time: number) => {
    const late = time > 0 && rng.chance(schedule.late) ? rng.next() * LATEST_MS : 0;
    const visibleAt = time + late + rng.next() * schedule.behindMs;
    const vanishes = rng.chance(schedule.vanish);
    const id = `p${posts.length.toString(36)}${Math.floor(rng.next() * 1e9).toString(36)}`;
    const symbol = rng.pick(['AAA', 'BBB', 'CCC']);
    const age = time > 0 && ages.chance(schedule.old) ? ages.between(...OLD_MS) : 0;
    const at = schedule.timeless && rng.chance(0.03) ? null : EPOCH + Math.floor(time - age);
    const sent = at !== null && ages.chance(schedule.odd) ? oddTime(at, ages) : at;
    const time_ = schedule.feed === 'thesis' ? { platformCreatedAt: sent } : { createdAt: sent };
    const nameless = ages.chance(schedule.nameless);
    const author = schedule.rule && `a${authors.int(4 * schedule.rule.authors)}`;
    const about = author && {
      ...(schedule.feed === 'thesis'
        ? { tokenAddress: symbol, authorId: author }
        : { coinMint: symbol, wallet: author }),
    };
    posts.push({
      id,
      at,
      // The service always lists posts without a time first.
      sortAt: at === null ? Number.MAX_SAFE_INTEGER : sent === at + 0.5 ? sent : at,
      order: posts.length,
      visibleAt,
      sentAt: time + late,
      goneAt: vanishes
        ? visibleAt + rng.next() * 200_000
        : time + (schedule.retentionMs ?? Infinity),
      old: age > 0 && at !== null,
      ...{ nameless, symbol },
      record: {
        ...(!nameless && { id }),
        tokenSymbol: symbol,
        thesis: `about "${symbol}"`,
        ...time_,
        ...about,
      },
    });
  };
  let time = -PAST_MS * (schedule.rate > 0.3 ? 0.3 : 1);
  const bursts = Array.from({ length: schedule.bursts }, () => rng.next() * schedule.busyMs).sort(
    (a, b) => a - b,
  );
  for (;;) {
    time += (-Math.log(1 - rng.next()) / schedule.rate) * 1_000;
    while (bursts.length > 0 && (bursts[0] ?? 0) < time) {
      const at = bursts.shift() ?? 0;
      const spread = rng.pick([0, 0, 1, 500]);
      for (let i = rng.int(120); i > 0; i--) add(at + rng.next() * spread);
    }
    if (time >= end) break;
    add(time);
  }
  posts.sort((a, b) => b.sortAt - a.sortAt || b.order - a.order);
  return delayed(posts, schedule);
}

/** The time between two posts that appear after the service has stood still. */
const DRAIN_MS = 20;

/** Delays what would appear while the service stands still, and all that is posted until it has appeared in order. */
function delayed(posts: readonly Post[], { faults }: Schedule): Post[] {
  let all = [...posts];
  for (const { from, to } of faults.filter(({ kind }) => kind === 'still')) {
    let free = to;
    const after = (time: number) => {
      if (time < from || time >= free) return time;
      free += DRAIN_MS;
      return free;
    };
    // Oldest first: what waits already goes before what is posted meanwhile.
    all = all
      .toReversed()
      .map((post) => {
        const visibleAt = after(post.visibleAt);
        return {
          ...post,
          visibleAt,
          sentAt: Math.max(post.sentAt, post.sentAt < from ? 0 : visibleAt),
        };
      })
      .reverse();
  }
  return all;
}
