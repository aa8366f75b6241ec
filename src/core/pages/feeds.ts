import { textOf } from '../../base/json-object.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import {
  CALLOUT_PAGE,
  cu,
  THESIS_BLOCK,
  THESIS_LIMIT_MAX,
  thesisBlocks,
} from '../../contract/limits.ts';
import type { Client, RequestParts } from '../../contract/ports/client.ts';
import type { Sent } from '../../contract/read-record.ts';
import { authorNameOf, normalName, normalToken } from './filter.ts';
import type { PageRow } from './post.ts';
import { feedPage, type PageSource } from './source.ts';

export interface ThesisScope {
  readonly userId?: string | undefined;
  readonly tokenAddress?: string | undefined;
}

export interface CalloutScope {
  readonly mint?: string | undefined;
  readonly wallet?: string | undefined;
}

/** The feeds of which the posts by these authors about these tokens consist: as few as possible. */
export function thesisScopes(
  users: readonly string[],
  tokens: readonly string[],
): readonly ThesisScope[] {
  if (users.length === 0 && tokens.length === 0) return [{}];
  if (users.length === 1 && tokens.length === 1)
    return [{ userId: users[0], tokenAddress: tokens[0] }];
  const isByUser = tokens.length === 0 || (users.length > 0 && users.length <= tokens.length);
  return isByUser
    ? users.map((userId) => ({ userId }))
    : tokens.map((tokenAddress) => ({ tokenAddress }));
}

/** The same for callouts, which are of coins or by wallets. */
export function calloutScopes(
  coins: readonly string[],
  wallets: readonly string[],
): readonly CalloutScope[] {
  if (coins.length === 0 && wallets.length === 0) return [{}];
  return coins.length > 0 ? coins.map((mint) => ({ mint })) : wallets.map((wallet) => ({ wallet }));
}

/**
 * Which of these feeds has a post of the whole feed; undefined if none has. The handles are by the
 * ids of their users.
 */
export function thesisFeedOf(
  scopes: readonly ThesisScope[],
  handles: ReadonlyMap<string, string>,
  onUnnamed: (() => void) | undefined,
): FeedOf {
  const users = scopes.flatMap(({ userId }) => userId ?? []);
  if (users.length > 0) {
    const feeds = new Map(users.map((id, at) => [normalName(id), at]));
    for (const [at, id] of users.entries()) {
      const handle = handles.get(id);
      if (handle !== undefined) feeds.set(normalName(handle), at);
    }
    return (post) => {
      const at = feeds.get(authorNameOf(post));
      if (at === undefined && !textOf(post['authorId'])) onUnnamed?.();
      return at;
    };
  }
  return byField(
    'tokenAddress',
    scopes.flatMap(({ tokenAddress }) => tokenAddress ?? []),
    normalToken,
  );
}

export function calloutFeedOf(scopes: readonly CalloutScope[]): FeedOf {
  const mints = scopes.flatMap(({ mint }) => mint ?? []);
  if (mints.length > 0) return byField('coinMint', mints, normalToken);
  return byField(
    'wallet',
    scopes.flatMap(({ wallet }) => wallet ?? []),
    normalToken,
  );
}

export type FeedOf = (post: Sent) => number | undefined;

function byField(
  field: string,
  values: readonly string[],
  normal: (text: string) => string,
): FeedOf {
  const feeds = new Map(values.map((value, at) => [normal(value), at]));
  return (post) => feeds.get(normal(textOf(post[field]) ?? ''));
}

type ThesisId = 'thesis.all' | 'thesis.token' | 'thesis.user' | 'thesis.userToken';
type CalloutId = 'launchpad.callouts' | 'launchpad.callouts.coin' | 'launchpad.callouts.wallet';
type Cursor = { readonly before?: string | undefined; readonly limit?: number | undefined };

export function thesisCall(
  { userId: id, tokenAddress }: ThesisScope,
  query: Cursor,
): Call<ThesisId> {
  if (id !== undefined && tokenAddress !== undefined) {
    return { id: 'thesis.userToken', ask: { params: { id, tokenAddress }, query } };
  }
  if (id !== undefined) return { id: 'thesis.user', ask: { params: { id }, query } };
  if (tokenAddress !== undefined)
    return { id: 'thesis.token', ask: { params: { tokenAddress }, query } };
  return { id: 'thesis.all', ask: { params: {}, query } };
}

export function calloutCall(
  { mint, wallet }: CalloutScope,
  query: Pick<Cursor, 'before'>,
): Call<CalloutId> {
  if (mint !== undefined)
    return { id: 'launchpad.callouts.coin', ask: { params: { mint }, query } };
  if (wallet !== undefined)
    return { id: 'launchpad.callouts.wallet', ask: { params: { wallet }, query } };
  return { id: 'launchpad.callouts', ask: { params: {}, query } };
}

interface Call<Id extends EndpointId> {
  readonly id: Id;
  readonly ask: RequestParts<Id>;
}

/** The fields with the time of a post, by the kind of post. */
export const timeFields = { thesis: 'platformCreatedAt', callout: 'createdAt' } as const;

type FeedClient = Pick<Client, 'call' | 'affords'>;

/** The sizes of the pages of theses. */
export const thesisSizes = { step: THESIS_BLOCK, max: THESIS_LIMIT_MAX } as const;

/** The pages of a thesis feed. */
export const thesisSource = (client: FeedClient, scope: ThesisScope = {}): PageSource => ({
  async page({ before, limit }, signal) {
    const { id, ask } = thesisCall(scope, { before, limit });
    const { record } = await client.call(id, ask, { signal });
    const page = feedPage(record, Math.min(limit, THESIS_BLOCK), timeFields.thesis);
    const { userId } = scope;
    return userId === undefined ? page : { ...page, rows: page.rows.map(by(userId)) };
  },
  sizes: thesisSizes,
  stepCu: cu.thesisBlock,
  affords: (rows) => client.affords(cu.thesisBlock * thesisBlocks(rows)),
});

/** A post in the feed of an author is by this author, even if its record does not say so. */
const by =
  (authorId: string) =>
  (row: PageRow): PageRow => ({
    ...row,
    author: { authorId, authorHandle: row.record['authorHandle'] },
  });

/** The pages of a callout feed. All pages have the same size and price. */
export const calloutSource = (
  client: Pick<Client, 'call'>,
  scope: CalloutScope = {},
): PageSource => ({
  async page({ before }, signal) {
    const { id, ask } = calloutCall(scope, { before });
    const { record } = await client.call(id, ask, { signal });
    return feedPage(record, CALLOUT_PAGE, timeFields.callout);
  },
  sizes: { step: CALLOUT_PAGE, max: CALLOUT_PAGE },
  stepCu: cu.launchpad,
});
