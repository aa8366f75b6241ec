import type { Board, BoardPeriod, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { PendingReason, User } from '../../contract/records/user.ts';
import type { Feed, Slice } from './feed.ts';

/** The result of a live resolve for a handle without a verified wallet. */
export type ResolvePlan =
  /** The search starts after `queue` other resolves, and finds a wallet `ms` milliseconds later. */
  | { readonly outcome: 'found'; readonly ms: number; readonly queue: number }
  /** All calls get a 202 with this reason. */
  | { readonly outcome: 'pending'; readonly reason: Exclude<PendingReason, 'queued'> };

/** The wallets of a user that are not verified yet. */
export interface Unverified extends Pick<User, 'solanaAddress' | 'evmAddress'> {
  readonly plan: ResolvePlan;
}

/**
 * The records of a world, as the service sends them, generated or loaded. The functions are called once, on
 * first use, because many runs do not need these records.
 */
export interface WorldRecords {
  readonly users: readonly User[];
  /** By user id. */
  readonly unverified: ReadonlyMap<string, Unverified>;
  /** The ids of the users whose wallets a free key can reveal. */
  readonly samples: ReadonlySet<string>;
  numbers(): readonly Pnl[];
  theses(): readonly Thesis[];
  accounts(): readonly LaunchpadUser[];
  callouts(): readonly Callout[];
  boards(): readonly Board[];
}

export interface ThesisFilter {
  readonly userId?: string | undefined;
  readonly tokenAddress?: string | undefined;
}

export interface CalloutFilter {
  readonly coin?: string | undefined;
  readonly wallet?: string | undefined;
}

/**
 * The data of the sandbox: users, numbers, theses and the launchpad, without HTTP, keys and prices. The time
 * `now` is always an argument, because the simulated clock belongs to the server.
 */
export interface World {
  readonly users: {
    readonly handles: readonly string[];
    /** Finds a user by a handle in any case. After a rename, only the new handle is found. */
    byHandle(handle: string): User | undefined;
    byId(id: string): User | undefined;
    /** Finds the user of an address; always the same user if there are several. */
    byWallet(address: string): User | undefined;
    /** Whether a free key can reveal this user's wallets. */
    isSample(userId: string): boolean;
    /** The result of a live resolve for a user without a verified wallet. */
    resolvePlan(userId: string): ResolvePlan;
    /** Verifies the wallets that a resolve found. From then on, every lookup shows them. */
    reveal(userId: string): User;
    /** Changes a user's handle. The id stays the same. */
    rename(userId: string, handle: string): void;
  };
  /** The numbers of a handle in any case; undefined for an unknown handle. */
  pnl(handle: string): Pnl | undefined;
  readonly theses: Pick<Feed<Thesis>, 'remove' | 'withhold' | 'count'> & {
    slice(filter: ThesisFilter, before: string | undefined, limit: number, now: number): Slice<Thesis>;
    /** Adds a post of the history again, as a new post with the time `now`. */
    post(now: number): ThesisFrameData;
    /** Adds a given post, from a replay or a test. */
    add(post: ThesisFrameData): void;
  };
  readonly launchpad: {
    user(wallet: string): LaunchpadUser | undefined;
    callouts(filter: CalloutFilter, before: string | undefined, now: number): Slice<Callout>;
    /** Adds a callout of the history again, as a new one with the time `now`; undefined without a history. */
    postCallout(now: number): Callout | undefined;
    /** The latest snapshot at or before `at`; an empty board with null as `capturedAt` if there is none. */
    board(period: BoardPeriod, at: number): Board;
  };
}
