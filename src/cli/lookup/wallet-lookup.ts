import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup } from '../../core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { Planned } from '../../core/spend/plan.ts';
import type { SubjectPlan } from './lookup-task.ts';

/** What is looked up by wallet. */
export interface ByWallet {
  /** The calls for a wallet that is not known yet, for which `name` stands. */
  planLater(name: string): Planned;
  plan(wallet: string): SubjectPlan | Promise<SubjectPlan>;
}

/** Looks something up by wallet. The wallet of a handle or user id is looked up first. */
export class WalletLookup {
  readonly #users: CachedLookup;
  readonly #byWallet: ByWallet;

  constructor(users: CachedLookup, byWallet: ByWallet) {
    this.#users = users;
    this.#byWallet = byWallet;
  }

  async plan(subject: Subject): Promise<SubjectPlan> {
    const { type, value, text } = subject;
    const byWallet = this.#byWallet;
    if (type === 'wallet') return await byWallet.plan(value);
    const user = this.#users.plan(subject);
    const { answer } = user;
    if (answer === undefined) {
      // Before the lookup, the wallet is not known.
      const later = {
        ...byWallet.planLater(value),
        isSure: false,
        standsFor: `the wallet of ${text}`,
      };
      return {
        calls: [...user.calls, later],
        find: async (signal, describe) => {
          const owner = await user.find(signal);
          const plan = await this.#planOf(owner);
          return plan.find(signal, describe);
        },
      };
    }
    const plan = await this.#planOf(answer);
    return { ...plan, calls: [...user.calls, ...plan.calls] };
  }

  /** What is looked up once a user is known. */
  async #planOf(user: LookupAnswer): Promise<SubjectPlan> {
    if (user.found !== true) return { calls: [], find: () => user };
    const wallet = walletOf(user.record);
    if (wallet !== undefined) return await this.#byWallet.plan(wallet);
    const { time, from } = user;
    return { calls: [], find: () => ({ found: false, code: 'NO_WALLET', time, from }) };
  }
}

/** The Solana wallet of a user, or the EVM wallet if there is no other. */
function walletOf(user: Sent): string | undefined {
  const { solanaAddress, evmAddress } = known(User, user);
  return (solanaAddress ?? evmAddress) || undefined;
}
