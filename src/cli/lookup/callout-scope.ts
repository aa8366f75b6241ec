import { usageError } from '../../base/failure.ts';
import type { CalloutScope } from '../../core/pages/feeds.ts';
import { addressOf } from '../args/address.ts';
import { value } from '../args/option.ts';
import { text } from '../args/values.ts';

/** The flags that limit a list or a tail of callouts. */
export const calloutScopeOptions = {
  coin: value('--coin', 'only this coin', text('mint')),
  wallet: value('--wallet', 'only callouts by this wallet', text('address')),
};

interface ScopeFlags {
  readonly coin: string | undefined;
  readonly wallet: string | undefined;
}

/** Rejects flags that cannot be combined, before any request is sent. */
export function checkCalloutScope({ coin, wallet }: ScopeFlags): void {
  if (coin === undefined || wallet === undefined) return;
  throw usageError('--coin and --wallet cannot be combined', 'use one of them');
}

/** The requested callouts, with validated addresses. */
export const calloutScopeOf = async ({ coin, wallet }: ScopeFlags): Promise<CalloutScope> => ({
  ...(coin !== undefined && { mint: await addressOf('--coin', coin) }),
  ...(wallet !== undefined && { wallet: await addressOf('--wallet', wallet) }),
});
