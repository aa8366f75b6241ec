import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../contract/ports.ts';
import { known } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup } from './cached-lookup.ts';
import { answerOf, type LookupAnswer } from './lookup.ts';
import type { Subject } from './subject.ts';

/** The wallet of a handle or user id is looked up first. */
export const launchpadAnswers =
  (client: Pick<Client, 'call'>, users: Pick<CachedLookup, 'answer'>, clock: Pick<Clock, 'now'>) =>
  async (subject: Subject, signal: AbortSignal): Promise<LookupAnswer> => {
    let wallet: string | null | undefined = subject.value;
    if (subject.type !== 'wallet') {
      const answer = await users.answer(subject, signal);
      if (answer.found !== true) return answer;
      const { solanaAddress, evmAddress } = known(User, answer.record);
      wallet = solanaAddress ?? evmAddress;
      if (!wallet) return { found: false, code: 'NO_WALLET', time: answer.time, from: answer.from };
    }
    try {
      const { record } = await client.call('launchpad.user', { params: { wallet } }, { signal });
      return { found: true, record, time: clock.now(), from: 'service' };
    } catch (error) {
      return answerOf(error, clock.now());
    }
  };
