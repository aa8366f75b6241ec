import { renewalOf } from '../base/periods.ts';
import { leftIn } from '../contract/budget.ts';
import type { EndpointId } from '../contract/endpoints.ts';
import {
  CALLOUT_PAGE,
  cu,
  isWithoutLiveFeed,
  THESIS_BLOCK,
  THESIS_LIMIT_MAX,
} from '../contract/limits.ts';
import type { Client, Result } from '../contract/ports/client.ts';
import type { Ledger } from '../contract/ports/ledger.ts';
import { readAccount } from '../contract/records/account.ts';
import { readPage } from '../contract/records/page.ts';
import { type AccountSharing, askAccount } from '../core/ask-account.ts';
import {
  type CalloutScope,
  calloutCall,
  type ThesisScope,
  thesisCall,
} from '../core/pages/feeds.ts';
import { type Conditions, normalToken } from '../core/pages/filter.ts';
import type { FeedPage, KeyFacts, PageSource } from './ports.ts';
import { type TailRow, tailRows } from './post-row.ts';
import { SeveralFeeds } from './walk/several-feeds.ts';

/**
 * Whose posts are read, and about what, if a feed is read for several authors, coins or wallets.
 */
export type Among = Pick<Conditions, 'users' | 'coins' | 'wallets'>;

/** The name of a feed in positions and certificates. */
export const thesisFeedName = (userId: string | undefined, tokens: readonly string[]): string =>
  ['thesis', userId ?? '', tokens.map(normalToken).sort().join(',')].join(' ').trim();
/** One coin or wallet is in the name; several are filters of the feed of all callouts. */
export function calloutFeedName(
  coins: readonly string[],
  wallets: readonly string[],
): { readonly name: string; readonly among: Among } {
  const isOne = coins.length + wallets.length === 1;
  return {
    name: ['launchpad', ...(isOne ? [coins[0] ?? '', wallets[0] ?? ''] : [])].join(' ').trim(),
    among: isOne ? {} : { coins, wallets },
  };
}

/** The pages of a thesis feed. */
export const thesisSource = (
  client: Client,
  { userId, tokenAddress }: ThesisScope,
): PageSource => ({
  async page({ before, limit }, signal) {
    const { id, ask } = thesisCall({ userId, tokenAddress }, { before, limit });
    const answer = await client.call(id, ask, { signal });
    const page = pageOf(answer, Math.min(limit, THESIS_BLOCK), 'platformCreatedAt');
    return userId === undefined ? page : { ...page, rows: page.rows.map(by(userId)) };
  },
  sizes: { step: THESIS_BLOCK, max: THESIS_LIMIT_MAX },
  stepCu: cu.thesisBlock,
});

/** A post in the feed of an author is by this author, even if its record does not say so. */
const by =
  (authorId: string) =>
  (row: TailRow): TailRow => ({
    ...row,
    author: { authorId, authorHandle: row.record['authorHandle'] },
  });

/** The pages of a callout feed. All pages have the same size and price. */
export const calloutSource = (client: Client, scope: CalloutScope): PageSource => ({
  async page({ before }, signal) {
    const { id, ask } = calloutCall(scope, { before });
    const answer = await client.call(id, ask, { signal });
    return pageOf(answer, CALLOUT_PAGE, 'createdAt');
  },
  sizes: { step: CALLOUT_PAGE, max: CALLOUT_PAGE },
  stepCu: cu.launchpad,
});

/**
 * The pages of one of these feeds; of several, those of the whole feed or their own, whichever are
 * fewer.
 */
export function sourceOf<S extends ThesisScope | CalloutScope>(
  scopes: readonly S[],
  pagesOf: (scope: S | undefined) => PageSource,
  now: () => number,
): PageSource {
  return scopes.length > 1
    ? new SeveralFeeds(pagesOf(undefined), scopes.map(pagesOf), now)
    : pagesOf(scopes[0]);
}

function pageOf(
  { record }: Pick<Result<EndpointId>, 'record'>,
  size: number,
  timeField: string,
): FeedPage {
  const { items, hasMore, nextBefore } = readPage(record, size);
  return { ...tailRows(items, timeField), hasMore, nextBefore };
}

/**
 * Learns what is left, from `me`, which is free, and from the ledger; returns the facts about the
 * key that a tail needs.
 */
export const keyFacts =
  (client: Client, ledger: Ledger, now: () => number, sharing?: AccountSharing) =>
  async (signal: AbortSignal): Promise<KeyFacts> => {
    const learn = client.left.request();
    const { record } = await askAccount(client, { signal }, sharing);
    const all = (await ledger.budgets?.()) ?? [];
    // A feed reveals no wallets.
    const budgets = all.filter(({ measure }) => measure !== 'reveals');
    learn({
      budgets: budgets.map((state) => ({
        period: state.scope === 'machine' ? `${state.period} of this machine` : state.period,
        left: leftIn(state),
        renewsAt: renewalOf(state.period, now()),
      })),
    });
    const { plan, ratePerMinute } = readAccount(record);
    // Of other plans, only the handshake shows whether they include the live feed.
    return { live: isWithoutLiveFeed(plan) ? false : null, ratePerMinute };
  };
