import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup } from '../../core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { Planned } from '../../core/spend/plan.ts';
import type { SubjectPlan } from './lookup-task.ts';

/** What is looked up by wallet. */
export interface ByWallet {
  call(wallet: string): Planned;
  find(wallet: string, signal: AbortSignal): Promise<LookupAnswer>;
}

/** Looks something up by wallet. The wallet of a handle or user id is looked up first. */
export class WalletLookup {
  readonly #users: CachedLookup;
  readonly #byWallet: ByWallet;

  constructor(users: CachedLookup, byWallet: ByWallet) {
    this.#users = users;
    this.#byWallet = byWallet;
  }

  plan(subject: Subject): SubjectPlan {
    const { type, value } = subject;
    const byWallet = this.#byWallet;
    if (type === 'wallet')
      return { calls: [byWallet.call(value)], find: (signal) => byWallet.find(value, signal) };
    const user = this.#users.plan(subject);
    return {
      calls: [...user.calls, ...this.#callsOf(subject, user.answer)],
      find: async (signal) => {
        const answer = await user.find(signal);
        if (answer.found !== true) return answer;
        const wallet = walletOf(answer.record);
        if (wallet !== undefined) return await byWallet.find(wallet, signal);
        return { found: false, code: 'NO_WALLET', time: answer.time, from: answer.from };
      },
    };
  }

  /**
   * The call for a handle or user id. Before its lookup, the wallet is not known, so it takes its
   * place.
   */
  #callsOf({ text, value }: Subject, cached: LookupAnswer | undefined): Planned[] {
    if (cached === undefined)
      return [{ ...this.#byWallet.call(value), isSure: false, standsFor: `the wallet of ${text}` }];
    const wallet = cached.found ? walletOf(cached.record) : undefined;
    return wallet === undefined ? [] : [this.#byWallet.call(wallet)];
  }
}

/** The Solana wallet of a user, or the EVM wallet if there is no other. */
function walletOf(user: Sent): string | undefined {
  const { solanaAddress, evmAddress } = known(User, user);
  return (solanaAddress ?? evmAddress) || undefined;
}
