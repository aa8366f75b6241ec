import type { Board, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis } from '../../contract/records/thesis.ts';
import type { PendingReason, User } from '../../contract/records/user.ts';

export type ResolvePlan =
  /** The search starts after `queue` other resolves, and finds a wallet `ms` milliseconds later. */
  | { readonly outcome: 'found'; readonly ms: number; readonly queue: number }
  /** All calls get a 202 with this reason. */
  | { readonly outcome: 'pending'; readonly reason: Exclude<PendingReason, 'queued'> };

/** What of a user can change: the id never does. */
export type Identity = Pick<User, 'handle' | 'solanaAddress' | 'evmAddress'>;

/**
 * Records as the service sends them. The functions are called once, on first use, because many runs
 * do not need them.
 */
export interface WorldRecords {
  readonly users: readonly User[];
  readonly unverified: ReadonlyMap<
    string,
    Pick<User, 'solanaAddress' | 'evmAddress'> & { readonly plan: ResolvePlan }
  >;
  /** Who people are at a time, by user id; only those who ever change. */
  identitiesAt(time: number): ReadonlyMap<string, Identity>;
  /** The ids of the users whose wallets a free key can reveal. */
  readonly samples: ReadonlySet<string>;
  numbers(): readonly Pnl[];
  theses(): readonly Thesis[];
  accounts(): readonly LaunchpadUser[];
  callouts(): readonly Callout[];
  boards(): readonly Board[];
}
