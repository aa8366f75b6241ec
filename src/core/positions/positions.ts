import { addTo } from '../../base/add-to.ts';
import { DistinctTexts } from '../../base/distinct-texts.ts';
import { textOf } from '../../base/json-object.ts';
import {
  closedAtOf,
  numberOf,
  postTimeOf,
  type Sent,
  writtenAt,
} from '../../contract/read-record.ts';
import type { AuthorPosition, PostsBeside } from '../../contract/records/position.ts';
import { normalName, normalToken } from '../pages/filter.ts';
import type { PageRow } from '../pages/post.ts';

/** When the position of a post was closed, or in which other state it is. */
type Close = number | 'open' | 'unknown';

/** What a thesis says about a position. The rest of it, such as the text, takes no memory. */
export interface PositionPost {
  readonly id: string | null;
  readonly at: number | null;
  readonly writtenAt: number;
  readonly authorId: string | null;
  readonly authorHandle: string | null;
  readonly authorName: string | null;
  readonly token: string | null;
  readonly network: string | null;
  readonly symbol: string | null;
  readonly close: Close;
  readonly tradeUsd: number | null;
  readonly holdingsUsd: number | null;
  readonly pnlUsd: number | null;
  readonly pnlPct: number | null;
  readonly isDev: boolean;
}

/** A post that belongs to a position. */
interface PlacedPost extends PositionPost {
  readonly id: string;
  readonly at: number;
  readonly authorId: string;
  readonly token: string;
}

/** How posts are kept for their positions, and which of two versions is the later one. */
export function positionPosts() {
  const texts = new DistinctTexts();
  return {
    keep: (row: PageRow) => positionPost(row, texts),
    compare: compareVersions<PositionPost>,
  };
}

/** `texts` keeps what many posts have in common. */
function positionPost({ id, at, record }: PageRow, texts: DistinctTexts): PositionPost {
  const close = closeOf(record);
  const text = (value: unknown) => (typeof value === 'string' ? texts.of(value) : null);
  const address = textOf(record['tokenAddress']);
  const { pnlUsd, pnlPct } = resultOf(record, close);
  return {
    id,
    at,
    writtenAt: writtenAt(record),
    authorId: text(record['authorId']) || null,
    authorHandle: text(record['authorHandle']),
    authorName: text(record['authorName']),
    token: address ? texts.of(normalToken(address)) : null,
    network: text(record['tokenNetwork']),
    symbol: text(record['tokenSymbol']),
    close,
    tradeUsd: numberOf(record['authorTradeUsd']) ?? null,
    holdingsUsd: numberOf(record['holdingsUsd']) ?? null,
    pnlUsd,
    pnlPct,
    isDev: record['authorIsDev'] === true,
  };
}

function closeOf(post: Sent): Close {
  const closedAt = closedAtOf(post);
  return closedAt === null ? 'open' : (closedAt ?? 'unknown');
}

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

/** What posts amount to. */
export interface PostedPositions {
  /** The number of different posts, and the times of the oldest and the newest one. */
  readonly read: {
    readonly posts: number;
    readonly from: number | null;
    readonly to: number | null;
  };
  /** The post that was posted last: it names its author and token as they are called now. */
  readonly newest: PositionPost | undefined;
  readonly beside: PostsBeside;
  /** The one with the newest post first. */
  readonly positions: readonly AuthorPosition[];
}

/**
 * The positions that posts are about. The order of the posts does not matter, and a post that comes
 * more than once counts once, as it was written last.
 */
export function positionsOf(all: readonly PositionPost[]): PostedPositions {
  const posts = lastVersions(all);
  const beside = { withoutAuthor: 0, withoutToken: 0, withoutTime: 0 };
  const groups = new Map<string, PlacedPost[]>();
  for (const post of posts) {
    if (post.authorId === null) beside.withoutAuthor++;
    else if (post.token === null) beside.withoutToken++;
    else if (!isPlaced(post)) beside.withoutTime++;
    else addTo(groups, `${normalName(post.authorId)} ${post.token} ${post.close}`, post);
  }
  return {
    read: { posts: posts.length, ...stretchOf(posts) },
    newest: posts.reduce<PositionPost | undefined>(
      (newest, post) => (newest === undefined || isNewer(post, newest) ? post : newest),
      undefined,
    ),
    beside: { withoutId: all.filter(({ id }) => id === null).length, ...beside },
    positions: [...groups.values()].map(positionOf).sort(newestFirst),
  };
}

/** The posts with an id, each in its last version. */
function lastVersions(all: readonly PositionPost[]): readonly PositionPost[] {
  const posts = new Map<string, PositionPost>();
  for (const post of all) {
    const { id } = post;
    if (id === null) continue;
    const before = posts.get(id);
    if (before === undefined || compareVersions(post, before) > 0) posts.set(id, post);
  }
  return [...posts.values()];
}

type PostVersion = Pick<PositionPost, 'writtenAt' | 'close'>;

/**
 * Which of two versions of a post is the later one: positive if the first is. Of those written at
 * the same time, what is closed was open before, and the rest, as `text` has it, does not depend on
 * their order.
 */
export const compareVersions = <P extends PostVersion>(
  one: P,
  other: P,
  text: (post: P) => string = JSON.stringify,
): number =>
  one.writtenAt - other.writtenAt ||
  closeRank(one) - closeRank(other) ||
  byText(text(one), text(other));

const closeRank = ({ close }: PostVersion): number =>
  typeof close === 'number' ? 2 : Number(close === 'open');

const isPlaced = (post: PositionPost): post is PlacedPost =>
  post.id !== null && post.authorId !== null && post.token !== null && post.at !== null;

/** The times of the oldest and the newest post; null if none has a time. */
export function stretchOf(posts: readonly { readonly at: number | null }[]) {
  let from: number | null = null;
  let to: number | null = null;
  for (const { at } of posts) {
    if (at === null) continue;
    from = Math.min(from ?? at, at);
    to = Math.max(to ?? at, at);
  }
  return { from, to };
}

/** Whether a post was written after another one. */
function isLater(one: PositionPost, other: PositionPost): boolean {
  const byTime = one.writtenAt - other.writtenAt;
  return (byTime || (one.at ?? 0) - (other.at ?? 0) || byText(one.id ?? '', other.id ?? '')) > 0;
}

const isNewer = (one: PositionPost, other: PositionPost): boolean =>
  one.at === other.at ? isLater(one, other) : (one.at ?? 0) > (other.at ?? 0);

function positionOf(posts: readonly PlacedPost[]): AuthorPosition {
  const first = posts.reduce((one, post) => (isBefore(post, one) ? post : one));
  const last = posts.reduce((one, post) => (isLater(post, one) ? post : one));
  const { authorId, authorHandle, token, network, symbol, close } = last;
  const { holdingsUsd, pnlUsd, pnlPct } = last;
  const closedAt = typeof close === 'number' ? close : null;
  const end = postTimeOf(closedAt);
  return {
    authorId,
    authorHandle,
    token,
    network,
    symbol,
    firstAt: first.at,
    lastAt: posts.reduce((latest, { at }) => Math.max(latest, at), first.at),
    posts: posts.length,
    tradeUsd: first.tradeUsd,
    holdingsUsd,
    status: typeof close === 'number' ? 'closed' : close,
    closedAt,
    heldMs: end === null || end < first.at ? null : end - first.at,
    pnlUsd,
    pnlPct,
    isDev: posts.some(({ isDev }) => isDev),
  };
}

const isBefore = (one: PlacedPost, other: PlacedPost): boolean =>
  one.at === other.at ? one.id < other.id : one.at < other.at;

const newestFirst = (one: AuthorPosition, other: AuthorPosition): number =>
  other.lastAt - one.lastAt ||
  byText(one.token, other.token) ||
  byText(one.authorId, other.authorId) ||
  (other.closedAt ?? Number.MAX_VALUE) - (one.closedAt ?? Number.MAX_VALUE) ||
  byText(one.status, other.status);

const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
