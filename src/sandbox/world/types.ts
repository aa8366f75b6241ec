import type { Board, BoardPeriod, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { PendingReason, User } from '../../contract/records/user.ts';

/**
 * A page of a feed that is walked by ids; `null` where `before` names nothing that is held and visible. An
 * id that another feed of the same kind showed is known: the walk goes on from its place in the order of all.
 */
export type Slice<T> = { readonly items: readonly T[]; readonly hasMore: boolean } | null;

/** What happens when a handle without a held wallet is resolved live. */
export type ResolvePlan =
  /** A wallet is found after `ms`, with `queue` others ahead at first. */
  | { readonly outcome: 'found'; readonly ms: number; readonly queue: number }
  /** A 202 with this reason, each time. */
  | { readonly outcome: 'pending'; readonly reason: Exclude<PendingReason, 'queued'> };

export interface ThesisFilter {
  readonly userId?: string | undefined;
  /** As the service normalises it: EVM lower-cased. */
  readonly tokenAddress?: string | undefined;
}

/**
 * The data behind the sandbox: traders, wallets, trades, theses and the launchpad, made from a seed or read
 * from a folder. It knows no HTTP, no keys and no prices. `now` is always an argument: the simulated clock
 * belongs to the server.
 */
export interface World {
  readonly users: {
    /** By normalised handle (lower case, no @). Renamed users answer to their present handle only. */
    byHandle(handle: string): User | undefined;
    byId(id: string): User | undefined;
    /** The one user answered for an address, the same one each time. EVM matches in any case. */
    byWallet(address: string): User | undefined;
    /** True for the accounts whose wallets a free key may reveal. */
    isSample(userId: string): boolean;
    /** How a live resolve goes for a user whose wallets are not held. */
    resolvePlan(userId: string): ResolvePlan;
    /** Holds the wallet that a resolve found: from now on every lookup shows it. */
    reveal(userId: string): User;
    /** Gives a user another handle; the id stays. */
    rename(userId: string, handle: string): void;
    readonly handles: readonly string[];
  };
  /**
   * The numbers of a handle as refreshed at the last full minute, which `updatedAt` says; undefined where
   * the handle is not held. A window is null where no trade is held at all, and one of zeros where none fell
   * into it.
   */
  pnl(handle: string, now: number): Pnl | undefined;
  readonly theses: {
    /** Newest first by post time; `limit` rows older than `before`. Never shows posts after `now`, nor withheld ones. */
    slice(filter: ThesisFilter, before: string | undefined, limit: number, now: number): Slice<Thesis>;
    /** The next post of the live feed, made as of `now` and added to the store. */
    post(now: number): ThesisFrameData;
    /** Adds a post made elsewhere (a replay, a user's data, a test); an id that is held already stays as it is. */
    add(post: ThesisFrameData): void;
    /** Takes a post out, as when the platform deletes it: its id is no cursor any more. */
    remove(id: string): void;
    /** Holds a post back from pages until `untilMs`: it turns up late, below newer ones. */
    withhold(id: string, untilMs: number): void;
    readonly count: number;
  };
  readonly launchpad: {
    user(wallet: string): LaunchpadUser | undefined;
    callouts(
      filter: { readonly coin?: string | undefined; readonly wallet?: string | undefined },
      before: string | undefined,
      now: number,
    ): Slice<Callout>;
    /** The next callout of the live feed, made as of `now` and added. */
    call(now: number): Callout;
    /**
     * The latest snapshot at or before `at`, which is never later than the caller's own now; a board without
     * entries and a null `capturedAt` where none is.
     */
    board(period: BoardPeriod, at: number): Board;
  };
}

/** How a world is made. Same options, same world, to the byte. */
export interface WorldOptions {
  readonly seed: number;
  /** The instant at which its history ends. */
  readonly now: number;
  /** 500 unless said; never fewer than the fixed cast, which every world has. */
  readonly traders?: number | undefined;
  /** 20,000 unless said. */
  readonly theses?: number | undefined;
  /** Whether user records carry `socials`. */
  readonly socials?: boolean | undefined;
}
