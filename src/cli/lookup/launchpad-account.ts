import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../contract/ports/client.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup } from '../../core/lookup/cached-lookup.ts';
import { answerOf, type LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { Planned } from '../../core/spend/plan.ts';
import type { SubjectPlan } from './lookup-task.ts';
import { userCalls } from './open-lookup.ts';

/** Looks up launchpad accounts. The wallet of a handle or user id is looked up first. */
export class AccountLookup {
  readonly #client: Pick<Client, 'call'>;
  readonly #users: CachedLookup;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(client: Pick<Client, 'call'>, users: CachedLookup, clock: Pick<Clock, 'now'>) {
    this.#client = client;
    this.#users = users;
    this.#clock = clock;
  }

  plan(subject: Subject): SubjectPlan {
    const { type, value } = subject;
    if (type === 'wallet')
      return { calls: [accountCall(value)], find: (signal) => this.#account(value, signal) };
    const user = this.#users.plan(subject);
    return {
      calls: [...userCalls(user), ...accountCalls(subject, user.answer)],
      find: async (signal) => {
        const answer = await this.#users.answer(user.subject, signal, user);
        if (answer.found !== true) return answer;
        const wallet = walletOf(answer.record);
        if (wallet !== undefined) return await this.#account(wallet, signal);
        return { found: false, code: 'NO_WALLET', time: answer.time, from: answer.from };
      },
    };
  }

  async #account(wallet: string, signal: AbortSignal): Promise<LookupAnswer> {
    try {
      const ask = { params: { wallet } };
      const { record } = await this.#client.call('launchpad.user', ask, { signal });
      return { found: true, record, time: this.#clock.now(), from: 'service' };
    } catch (error) {
      return answerOf(error, this.#clock.now());
    }
  }
}

/**
 * The call for the account of a handle or user id. Before its lookup, the wallet is not known, so
 * it takes its place.
 */
function accountCalls({ text, value }: Subject, cached: LookupAnswer | undefined): Planned[] {
  if (cached === undefined)
    return [{ ...accountCall(value), isSure: false, standsFor: `the wallet of ${text}` }];
  const wallet = cached.found ? walletOf(cached.record) : undefined;
  return wallet === undefined ? [] : [accountCall(wallet)];
}

const accountCall = (wallet: string): Planned => ({
  id: 'launchpad.user',
  ask: { params: { wallet } },
});

/** The Solana wallet of a user, or the EVM wallet if there is no other. */
function walletOf(user: Sent): string | undefined {
  const { solanaAddress, evmAddress } = known(User, user);
  return (solanaAddress ?? evmAddress) || undefined;
}
