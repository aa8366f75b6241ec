import type { Board, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis } from '../../contract/records/thesis.ts';
import type { PendingReason, User } from '../../contract/records/user.ts';

/** The result of a live resolve for a handle without a verified wallet. */
export type ResolvePlan =
  /** The search starts after `queue` other resolves, and finds a wallet `ms` milliseconds later. */
  | { readonly outcome: 'found'; readonly ms: number; readonly queue: number }
  /** All calls get a 202 with this reason. */
  | { readonly outcome: 'pending'; readonly reason: Exclude<PendingReason, 'queued'> };

interface Unverified extends Pick<User, 'solanaAddress' | 'evmAddress'> {
  readonly plan: ResolvePlan;
}

/**
 * The records of a world, as the service sends them, generated or loaded. The functions are called once, on
 * first use, because many runs do not need these records.
 */
export interface WorldRecords {
  readonly users: readonly User[];
  readonly unverified: ReadonlyMap<string, Unverified>;
  readonly samples: ReadonlySet<string>;
  numbers(): readonly Pnl[];
  theses(): readonly Thesis[];
  accounts(): readonly LaunchpadUser[];
  callouts(): readonly Callout[];
  boards(): readonly Board[];
}
