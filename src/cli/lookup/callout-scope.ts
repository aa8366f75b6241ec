import { usageError } from '../../base/failure.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Planned } from '../../core/spend/plan.ts';
import { excluding, type GivenFlags, list } from '../args/option.ts';
import { addressOf } from '../args/subjects.ts';
import { text } from '../args/values.ts';
import type { Context } from '../run/context.ts';
import { type AuthorLookup, distinctAddresses, planLookup, wallets } from './author-lookup.ts';
import { authorOptions, readAuthors } from './authors.ts';

/** The calls of a command that reads callouts, and looks up their authors for that. */
export const calloutCalls: readonly EndpointId[] = [
  'launchpad.callouts',
  'launchpad.callouts.coin',
  'launchpad.callouts.wallet',
  'user.handle',
  'user.id',
];

/** The flags that select callouts. */
export const calloutScopeOptions = {
  coin: list('--coin', 'only this coin', text('mint')),
  wallet: excluding(list('--wallet', 'only callouts by this wallet', text('address')), '--coin'),
  ...authorOptions,
};

/** The coins and wallets whose callouts are read. Authors are looked up for their wallets. */
class CalloutScope {
  readonly coins: readonly string[];
  /** The wallets that the user named. */
  readonly #named: readonly string[];
  readonly #authors: AuthorLookup;

  constructor(coins: readonly string[], named: readonly string[], authors: AuthorLookup) {
    this.coins = coins;
    this.#named = named;
    this.#authors = authors;
  }

  get calls(): readonly Planned[] {
    return this.#authors.calls;
  }

  get isSure(): boolean {
    return this.#named.length > 0 || this.#authors.isSure;
  }

  /** The wallets for the calls of a plan, with placeholders for those that are not known yet. */
  get planned(): readonly string[] {
    return distinctAddresses([...this.#named, ...this.#authors.planned]);
  }

  async wallets(): Promise<readonly string[]> {
    return distinctAddresses([...this.#named, ...(await this.#authors.find())]);
  }

  /** The wallets that are known without a call. */
  keptWallets(): readonly string[] {
    return distinctAddresses([...this.#named, ...this.#authors.kept()]);
  }
}

/** Plans which callouts the flags select. */
export async function planCallouts(
  { coin, wallet, ...authors }: GivenFlags<typeof calloutScopeOptions>,
  context: Context,
  needsKey = true,
): Promise<CalloutScope> {
  const subjects = await readAuthors(authors, context, needsKey);
  if (coin.length > 0 && subjects.length > 0)
    throw usageError('--coin cannot be combined with --user or --users', 'omit one of them');
  const coins = await Promise.all(coin.map((mint) => addressOf('--coin', mint)));
  const named = await Promise.all(wallet.map((address) => addressOf('--wallet', address)));
  return new CalloutScope(
    distinctAddresses(coins),
    named,
    await planLookup(subjects, wallets, context),
  );
}
