import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../contract/ports/client.ts';
import { answerOf } from '../../core/lookup/lookup.ts';
import type { ByWallet } from './wallet-lookup.ts';

/** Looks up the launchpad account of a wallet. */
export const accountByWallet = (
  client: Pick<Client, 'call'>,
  clock: Pick<Clock, 'now'>,
): ByWallet => ({
  call: (wallet) => ({ id: 'launchpad.user', ask: { params: { wallet } } }),
  async find(wallet, signal) {
    try {
      const ask = { params: { wallet } };
      const { record } = await client.call('launchpad.user', ask, { signal });
      return { found: true, record, time: clock.now(), from: 'service' };
    } catch (error) {
      return answerOf(error, clock.now());
    }
  },
});
