import { renewalOf } from '../base/periods.ts';
import { leftIn } from '../contract/budget.ts';
import { isWithoutLiveFeed } from '../contract/limits.ts';
import type { Client } from '../contract/ports/client.ts';
import type { Ledger } from '../contract/ports/ledger.ts';
import { readAccount } from '../contract/records/account.ts';
import { type AccountSharing, askAccount } from '../core/ask-account.ts';
import type { CalloutScope, ThesisScope } from '../core/pages/feeds.ts';
import { type Conditions, normalToken } from '../core/pages/filter.ts';
import type { PageSource } from '../core/pages/source.ts';
import type { KeyFacts, TailPorts } from './ports.ts';

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

/** The pages of one of these feeds; of several, those of the feed with all posts and their own. */
export function sourcesOf<S extends ThesisScope | CalloutScope>(
  scopes: readonly S[],
  pagesOf: (scope: S | undefined) => PageSource,
): Pick<TailPorts, 'source' | 'own'> {
  if (scopes.length <= 1) return { source: pagesOf(scopes[0]) };
  const own = { sources: scopes.map(pagesOf), mostPages: scopes.length };
  return { source: pagesOf(undefined), own };
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
