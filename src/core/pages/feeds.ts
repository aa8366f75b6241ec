import { textOf } from '../../base/json-object.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import {
  CALLOUT_PAGE,
  cu,
  THESIS_BLOCK,
  THESIS_LIMIT_DEFAULT,
  thesisBlocks,
} from '../../contract/limits.ts';
import type { Client, RequestParts } from '../../contract/ports/client.ts';
import type { Sent } from '../../contract/read-record.ts';
import { readPage } from '../../contract/records/page.ts';
import { authorNameOf, normalName, normalToken } from './filter.ts';
import { postIdOf, postTimeOf } from './post.ts';
import type { TimedFeed } from './walk.ts';

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

export const thesisFeed = (
  client: Pick<Client, 'call' | 'affords'>,
  scope: ThesisScope = {},
): TimedFeed<Sent> => ({
  async page(before, limit, signal) {
    const { id, ask } = thesisCall(scope, { before, limit });
    const { record } = await client.call(id, ask, { signal });
    return readPage(record, Math.min(limit ?? THESIS_LIMIT_DEFAULT, THESIS_BLOCK));
  },
  idOf: postIdOf,
  timeOf: (item) => postTimeOf(item['platformCreatedAt']),
  affords: (rows) => client.affords(cu.thesisBlock * thesisBlocks(rows)),
});

/** All pages have the same size and price. */
export const calloutFeed = (
  client: Pick<Client, 'call'>,
  scope: CalloutScope = {},
): TimedFeed<Sent> => ({
  async page(before, _rows, signal) {
    const { id, ask } = calloutCall(scope, { before });
    const { record } = await client.call(id, ask, { signal });
    return readPage(record, CALLOUT_PAGE);
  },
  idOf: postIdOf,
  timeOf: (item) => postTimeOf(item['createdAt']),
});
