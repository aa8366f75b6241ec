import type { Board, BoardPeriod, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { PendingReason, User } from '../../contract/records/user.ts';

/**
 * One page of a feed; `null` if `before` is unknown or not visible yet. An id from another feed of the same
 * kind is valid: the page starts at that record's place in the complete order.
 */
export type Slice<T> = { readonly items: readonly T[]; readonly hasMore: boolean } | null;

/** The outcome of a live resolve for a handle without a verified wallet. */
export type ResolvePlan =
  /** A wallet is found after `ms`; `queue` other resolves come first. */
  | { readonly outcome: 'found'; readonly ms: number; readonly queue: number }
  /** Every call gets a 202 with this reason. */
  | { readonly outcome: 'pending'; readonly reason: Exclude<PendingReason, 'queued'> };

export interface ThesisFilter {
  readonly userId?: string | undefined;
  /** Normalized as the service does it: EVM in lower case. */
  readonly tokenAddress?: string | undefined;
}

export interface CalloutFilter {
  readonly coin?: string | undefined;
  readonly wallet?: string | undefined;
}

/**
 * The data behind the sandbox: users, numbers, theses and the launchpad. It has no HTTP, keys or prices.
 * `now` is always an argument because the simulated clock belongs to the server.
 */
export interface World {
  readonly users: {
    /** Takes a normalized handle (lower case, no @). After a rename only the new handle matches. */
    byHandle(handle: string): User | undefined;
    byId(id: string): User | undefined;
    /** The user of an address, the same one on every call. EVM addresses match in any case. */
    byWallet(address: string): User | undefined;
    /** Whether a free key may reveal this user's wallets. */
    isSample(userId: string): boolean;
    /** The outcome of a live resolve for a user without a verified wallet. */
    resolvePlan(userId: string): ResolvePlan;
    /** Verifies the wallets that a resolve found: every later lookup shows them. */
    reveal(userId: string): User;
    /** Changes a user's handle; the id stays. */
    rename(userId: string, handle: string): void;
    readonly handles: readonly string[];
  };
  /**
   * The numbers of a handle as of the last full minute (`updatedAt`); undefined for an unknown handle. A
   * window is null if the user never traded, and all zeros if no trade falls into it.
   */
  pnl(handle: string, now: number): Pnl | undefined;
  readonly theses: {
    /** `limit` theses older than `before`, newest first; posts after `now` and withheld posts are left out. */
    slice(filter: ThesisFilter, before: string | undefined, limit: number, now: number): Slice<Thesis>;
    /** Creates and stores the next live post, dated `now`. */
    post(now: number): ThesisFrameData;
    /** Stores a given post (from a replay or a test); ignored if the id exists. */
    add(post: ThesisFrameData): void;
    /** Deletes a post, as when its author deletes it: its id is no longer a valid cursor. */
    remove(id: string): void;
    /** Hides a post from pages until `untilMs`, after which it appears below newer ones. */
    withhold(id: string, untilMs: number): void;
    readonly count: number;
  };
  readonly launchpad: {
    user(wallet: string): LaunchpadUser | undefined;
    callouts(filter: CalloutFilter, before: string | undefined, now: number): Slice<Callout>;
    /** Creates and stores the next live callout, dated `now`. */
    postCallout(now: number): Callout;
    /** The latest snapshot at or before `at`; without one, a board with no entries and a null `capturedAt`. */
    board(period: BoardPeriod, at: number): Board;
  };
}

/** How to create a world. The same options always give the same world, byte for byte. */
export interface WorldOptions {
  readonly seed: number;
  /** The end of the generated history. */
  readonly now: number;
  /** Default 500, and at least the number of fixed traders. */
  readonly traders?: number | undefined;
  /** Default 20,000. */
  readonly theses?: number | undefined;
  /** Whether user records include `socials`. */
  readonly socials?: boolean | undefined;
}
