import { textOf } from '../../base/json-object.ts';
import { numberOf, type Sent } from '../../contract/read-record.ts';
import type { AuthorPosition, PostsBeside } from '../../contract/records/position.ts';
import { normalName, normalToken } from '../pages/filter.ts';
import { closedAtOf, isLaterVersion, type PageRow, writtenAt } from '../pages/post.ts';

type Post = PageRow<string>;

/** A post of which a position is made. */
interface TimedPost extends Post {
  readonly at: number;
}

/**
 * Collects posts into positions. The order of the posts does not matter, and a post that is added
 * more than once counts once, as it was written last.
 */
export class AuthorPositions {
  /** The number of posts that cannot be told from others. */
  #withoutId = 0;
  /** The posts by their ids, each in its last version. */
  readonly #posts = new Map<string, Post>();

  constructor(posts: Iterable<PageRow> = []) {
    for (const post of posts) this.add(post);
  }

  add({ id, ...post }: PageRow): void {
    if (id === null) {
      this.#withoutId++;
      return;
    }
    const before = this.#posts.get(id);
    if (before === undefined || isLaterVersion(post.record, before.record))
      this.#posts.set(id, { id, ...post });
  }

  /** The number of posts, and the times of the oldest and the newest one. */
  get read(): { readonly posts: number; readonly from: number | null; readonly to: number | null } {
    let from: number | null = null;
    let to: number | null = null;
    for (const { at } of this.#posts.values()) {
      if (at === null) continue;
      from = Math.min(from ?? at, at);
      to = Math.max(to ?? at, at);
    }
    return { posts: this.#posts.size, from, to };
  }

  /** The post that was posted last: it names its author and token as they are called now. */
  get newest(): Sent {
    let newest: Post | undefined;
    for (const post of this.#posts.values())
      if (newest === undefined || isNewer(post, newest)) newest = post;
    return newest?.record ?? {};
  }

  get beside(): PostsBeside {
    const without = (field: 'authorId' | 'tokenAddress' | 'at') =>
      [...this.#posts.values()].filter((post) => missingIn(post) === field).length;
    return {
      withoutId: this.#withoutId,
      withoutAuthor: without('authorId'),
      withoutToken: without('tokenAddress'),
      withoutTime: without('at'),
    };
  }

  /** The positions, the one with the newest post first. */
  list(): AuthorPosition[] {
    const groups = new Map<string, TimedPost[]>();
    for (const post of this.#posts.values()) {
      const { record, at } = post;
      if (at === null || missingIn(post) !== undefined) continue;
      const author = normalName(textOf(record['authorId']) ?? '');
      const token = normalToken(textOf(record['tokenAddress']) ?? '');
      const key = `${author} ${token} ${closeOf(record)}`;
      const group = groups.get(key);
      if (group) group.push({ ...post, at });
      else groups.set(key, [{ ...post, at }]);
    }
    return [...groups.values()].map(positionOf).sort(newestFirst);
  }
}

/** What a post lacks that decides about its position; undefined if it lacks nothing. */
function missingIn({ record, at }: Post): 'authorId' | 'tokenAddress' | 'at' | undefined {
  if (!textOf(record['authorId'])) return 'authorId';
  if (!textOf(record['tokenAddress'])) return 'tokenAddress';
  return at === null ? 'at' : undefined;
}

/** When the position of a post was closed, or in which other state it is. */
type Close = number | 'open' | 'unknown';

function closeOf(post: Sent): Close {
  const closedAt = closedAtOf(post);
  return closedAt === null ? 'open' : (closedAt ?? 'unknown');
}

/** Whether a post was written after another one. */
function isLater(one: Post, other: Post): boolean {
  const byTime = writtenAt(one.record) - writtenAt(other.record);
  return (byTime || (one.at ?? 0) - (other.at ?? 0) || byText(one.id, other.id)) > 0;
}

const isNewer = (one: Post, other: Post): boolean =>
  one.at === other.at ? isLater(one, other) : (one.at ?? 0) > (other.at ?? 0);

function positionOf(posts: readonly TimedPost[]): AuthorPosition {
  const first = posts.reduce((one, post) => (isBefore(post, one) ? post : one));
  const { record } = posts.reduce((last, post) => (isLater(post, last) ? post : last));
  const close = closeOf(record);
  const closedAt = typeof close === 'number' ? close : null;
  return {
    authorId: textOf(record['authorId']) ?? '',
    authorHandle: textOf(record['authorHandle']) ?? null,
    token: normalToken(textOf(record['tokenAddress']) ?? ''),
    network: textOf(record['tokenNetwork']) ?? null,
    symbol: textOf(record['tokenSymbol']) ?? null,
    firstAt: first.at,
    lastAt: posts.reduce((last, { at }) => Math.max(last, at), first.at),
    posts: posts.length,
    tradeUsd: numberOf(first.record['authorTradeUsd']) ?? null,
    holdingsUsd: numberOf(record['holdingsUsd']) ?? null,
    status: typeof close === 'number' ? 'closed' : close,
    closedAt,
    heldMs: closedAt === null || closedAt < first.at ? null : closedAt - first.at,
    ...resultOf(record, close),
    isDev: posts.some(({ record: { authorIsDev } }) => authorIsDev === true),
  };
}

const isBefore = (one: TimedPost, other: TimedPost): boolean =>
  one.at === other.at ? one.id < other.id : one.at < other.at;

/**
 * The result of a closed position is the realized PnL, that of an open one the unrealized PnL. The
 * field `pnl` is one of the two, so it stands in only if neither is stated.
 */
function resultOf(post: Sent, close: Close): Pick<AuthorPosition, 'pnlUsd' | 'pnlPct'> {
  if (close === 'unknown') return { pnlUsd: null, pnlPct: null };
  const realized = numberOf(post['realizedPnlUsd']);
  const unrealized = numberOf(post['unrealizedPnlUsd']);
  const either = (realized ?? unrealized) === undefined ? numberOf(post['pnl']) : undefined;
  const [usd, pct] =
    close === 'open'
      ? [unrealized, post['percentageUnrealizedPnl']]
      : [realized, post['percentageRealizedPnl']];
  return { pnlUsd: usd ?? either ?? null, pnlPct: numberOf(pct) ?? null };
}

const newestFirst = (one: AuthorPosition, other: AuthorPosition): number =>
  other.lastAt - one.lastAt ||
  byText(one.token, other.token) ||
  byText(one.authorId, other.authorId) ||
  (other.closedAt ?? Number.MAX_VALUE) - (one.closedAt ?? Number.MAX_VALUE) ||
  byText(one.status, other.status);

const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
