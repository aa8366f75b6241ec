import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../contract/ports/client.ts';
import { answerOf } from '../../core/lookup/lookup.ts';
import type { ByWallet } from './wallet-lookup.ts';

/** Looks up the launchpad account of a wallet. */
export const accountByWallet = (
  client: Pick<Client, 'call'>,
  clock: Pick<Clock, 'now'>,
): ByWallet => ({
  planLater: callOf,
  plan: (wallet) => ({
    calls: [callOf(wallet)],
    async find(signal) {
      try {
        const { id, ask } = callOf(wallet);
        const { record } = await client.call(id, ask, { signal });
        return { found: true, record, time: clock.now(), from: 'service' };
      } catch (error) {
        return answerOf(error, clock.now());
      }
    },
  }),
});

const callOf = (wallet: string) => ({ id: 'launchpad.user', ask: { params: { wallet } } }) as const;
