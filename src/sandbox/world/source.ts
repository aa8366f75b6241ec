import type { Board, BoardPeriod, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import type { Arrival, TimelineBase } from './timeline.ts';
import type { CalloutFilter, ThesisFilter } from './types.ts';
import type { UserSource, UserStore } from './user-store.ts';

/** The records of a world, either generated from a seed or loaded from files. */
export interface WorldSource {
  readonly users: UserSource;
  /** Creates numbers and theses. Called on first use, because many runs need neither of them. */
  history(users: UserStore): {
    readonly numbers: NumbersSource;
    readonly theses: FeedSource<Thesis, ThesisFilter, ThesisFrameData>;
  };
  /** Creates the launchpad. Called on first use. */
  launchpad(): LaunchpadSource;
}

export interface NumbersSource {
  of(index: number, now: number): Pnl;
  /** Returns numbers for a handle without a user record. */
  ofUnknownHandle?(handle: string): Pnl | undefined;
}

/** A feed of records: those from before the sandbox started (the base), and new ones on demand. */
export interface FeedSource<T, Filter, Live extends T = T> {
  readonly base: TimelineBase<T>;
  /**
   * The indices of the base records that match a filter, in ascending order; undefined if no record matches.
   */
  select(filter: Filter): Uint32Array | undefined;
  /** Records that are added when the sandbox starts, in addition to the base. */
  readonly initial: readonly Arrival<T>[];
  /** Creates the next live record, with the time `now`. */
  next(now: number): { readonly record: Live; readonly arrival: Arrival<T> };
}

export interface LaunchpadSource {
  user(wallet: string): LaunchpadUser | undefined;
  readonly callouts: FeedSource<Callout, CalloutFilter>;
  board(period: BoardPeriod, at: number): Board;
}
