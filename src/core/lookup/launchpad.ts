import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../contract/ports.ts';
import { answerOf, type LookupAnswer } from './lookup.ts';
import type { Subject } from './subject.ts';

/** Creates the function with which `lookup` requests the launchpad account of a wallet. */
export const launchpadAnswers =
  (client: Pick<Client, 'call'>, clock: Pick<Clock, 'now'>) =>
  async ({ value: wallet }: Subject, signal: AbortSignal): Promise<LookupAnswer> => {
    try {
      const { record } = await client.call('launchpad.user', { params: { wallet } }, { signal });
      return { found: true, record, time: clock.now(), from: 'service' };
    } catch (error) {
      return answerOf(error, clock.now());
    }
  };
