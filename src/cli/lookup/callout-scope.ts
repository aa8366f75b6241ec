import type { CalloutScope } from '../../core/pages/feeds.ts';
import { excluding, type GivenFlags, value } from '../args/option.ts';
import { addressOf } from '../args/subjects.ts';
import { text } from '../args/values.ts';

export const calloutScopeOptions = {
  coin: value('--coin', 'only this coin', text('mint')),
  wallet: excluding(value('--wallet', 'only callouts by this wallet', text('address')), '--coin'),
};

export const calloutScopeOf = async ({
  coin,
  wallet,
}: GivenFlags<typeof calloutScopeOptions>): Promise<CalloutScope> => ({
  ...(coin !== undefined && { mint: await addressOf('--coin', coin) }),
  ...(wallet !== undefined && { wallet: await addressOf('--wallet', wallet) }),
});
