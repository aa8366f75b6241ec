import type { Board, BoardPeriod, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { PendingReason, User } from '../../contract/records/user.ts';

/**
 * One page of a feed; `null` if `before` is unknown or hidden. `before` may be an id from another feed of the
 * same kind: the page then starts with the newest record of its own feed that is older than that id.
 */
export type Slice<T> = { readonly items: readonly T[]; readonly hasMore: boolean } | null;

/** The result of a live resolve for a handle without a verified wallet. */
export type ResolvePlan =
  /** The search starts after `queue` other resolves, and finds a wallet `ms` milliseconds later. */
  | { readonly outcome: 'found'; readonly ms: number; readonly queue: number }
  /** All calls get a 202 with this reason. */
  | { readonly outcome: 'pending'; readonly reason: Exclude<PendingReason, 'queued'> };

export interface ThesisFilter {
  readonly userId?: string | undefined;
  /** The address in the form that the service uses: EVM addresses are lower-cased. */
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
    /**
     * Finds a user by a normalized handle (lower case, without @). After a rename, only the new handle is
     * found.
     */
    byHandle(handle: string): User | undefined;
    byId(id: string): User | undefined;
    /**
     * Finds the user of an address; always the same user if there are several. The case of EVM addresses is
     * ignored.
     */
    byWallet(address: string): User | undefined;
    /** Whether a free key can reveal this user's wallets. */
    isSample(userId: string): boolean;
    /** The result of a live resolve for a user without a verified wallet. */
    resolvePlan(userId: string): ResolvePlan;
    /** Verifies the wallets that a resolve found. From then on, every lookup shows them. */
    reveal(userId: string): User;
    /** Changes a user's handle. The id stays the same. */
    rename(userId: string, handle: string): void;
    readonly handles: readonly string[];
  };
  /**
   * The numbers of a handle at the last full minute (`updatedAt`); undefined for an unknown handle. A window
   * is null if the user never traded; its `trades` is 0 if the user traded, but not in the window.
   */
  pnl(handle: string, now: number): Pnl | undefined;
  readonly theses: {
    /**
     * Returns up to `limit` theses older than `before`, newest first, without posts later than `now` and
     * without hidden posts.
     */
    slice(filter: ThesisFilter, before: string | undefined, limit: number, now: number): Slice<Thesis>;
    /** Creates and stores the next live post, with the time `now`. */
    post(now: number): ThesisFrameData;
    /** Stores a given post, from a replay or a test. Ignores a post whose id already exists. */
    add(post: ThesisFrameData): void;
    /** Deletes a post, as an author can do. Its id is then no longer a valid cursor. */
    remove(id: string): void;
    /** Hides a post from pages until `untilMs`. Then the post appears below newer posts. */
    withhold(id: string, untilMs: number): void;
    readonly count: number;
  };
  readonly launchpad: {
    user(wallet: string): LaunchpadUser | undefined;
    callouts(filter: CalloutFilter, before: string | undefined, now: number): Slice<Callout>;
    /** Creates and stores the next live callout, with the time `now`. */
    postCallout(now: number): Callout;
    /**
     * The latest snapshot at or before `at`. If there is no such snapshot, an empty board with null as
     * `capturedAt`.
     */
    board(period: BoardPeriod, at: number): Board;
  };
}

/** The options of a world. The same options always give exactly the same world. */
export interface WorldOptions {
  readonly seed: number;
  /** The end of the generated history. */
  readonly now: number;
  /** The number of generated traders: 500 by default, and at least the traders that every world contains. */
  readonly traders?: number | undefined;
  /** The number of generated theses: 20,000 by default. */
  readonly theses?: number | undefined;
  /** Whether user records include `socials`. */
  readonly socials?: boolean | undefined;
}
