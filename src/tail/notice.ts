import type { StopCode } from '../core/pages/read-pages.ts';
import type { FeederFacts } from './health.ts';
import type { Mode, PollReason, TailCost } from './spend/stream-or-poll.ts';

type StartKind = 'now' | 'backfill' | 'since' | 'position';

/**
 * A stretch of the feed in which posts may be missing. Its bounds are post times, and belong to it.
 */
export interface Gap {
  /** Why it was not read: why walks stopped, or the message of the failure that ended the run. */
  readonly why: StopCode | { readonly failure: string };
  /** Null if nothing before it was verified. */
  readonly from: number | null;
  /** Null if the gap extends to the end of the run, or no post that was read above it has a time. */
  readonly to: number | null;
  /**
   * Whether the next run, which continues where this one stopped, will read it. It then does not
   * count as a gap.
   */
  readonly open: boolean;
  /**
   * The spending limit without which the next run will not read it either; null if that is not
   * known.
   */
  readonly neededCeiling?: number | null;
}

export type DownReason =
  | 'closed'
  | 'reset'
  | 'silent'
  | 'suspended'
  | 'incomplete'
  | 'overflow'
  | 'blocked'
  | 'refused';

export type EndReason = 'stopped' | 'count' | 'duration' | 'caughtUp' | 'reader' | 'failure';

export interface TailCounts {
  readonly rows: number;
  /**
   * The number of rows posted before the start of the run. They were printed first, and `rows`
   * excludes them.
   */
  readonly earlier: number;
  readonly filled: number;
  /** The number of rows that came over the WebSocket after their time was verified. */
  readonly late: number;
  /** The number of records that stages have made of the rows, and that were printed; else null. */
  readonly printed: number | null;
  /** The number of rows that were held back. */
  readonly held: number;
  readonly nameless: number;
  readonly connections: number;
  readonly pages: number;
  readonly spent: TailCost;
  /**
   * The post time up to which the feed is complete except for the gaps; null before the first
   * verification.
   */
  readonly verified: number | null;
  /**
   * When the feed was last read completely, by the clock of this machine; null before the first
   * complete walk.
   */
  readonly readAt: number | null;
  /** Whether no post of the feed was ever seen, by this run or those that it continues. */
  readonly isUnseen: boolean;
}

export interface Summary extends TailCounts {
  readonly reason: EndReason;
  readonly gaps: readonly Gap[];
  readonly durationMs: number;
}

export interface Stretched {
  readonly everyMs: number;
  readonly until: number;
}

/** How the run begins, and what it costs. */
export interface StartNotice {
  readonly kind: 'start';
  readonly from: StartKind;
  readonly noFollow: boolean;
  readonly mode: Mode;
  readonly why: PollReason | undefined;
  readonly perMinute: number;
  /** Whether nothing was read yet, so that how much its posts add to the price is not known. */
  readonly isLeast: boolean;
  readonly other: { readonly mode: Mode; readonly perMinute: number } | null;
  readonly lagMs: number;
  readonly stretched: Stretched | undefined;
}

/** The connection was lost, or could not be opened. */
export interface DownNotice {
  readonly kind: 'down';
  readonly why: DownReason;
  readonly text: string;
  readonly waitMs: number;
}

/** The tail polls from now on. */
export interface FallbackNotice {
  readonly kind: 'fallback';
  readonly why: PollReason;
  /** What is wrong with the WebSocket. */
  readonly detail?: string | undefined;
  readonly perMinute: number;
  readonly stretched: Stretched | undefined;
}

export type TailNotice =
  | StartNotice
  | { readonly kind: 'connected' }
  | { readonly kind: 'nameless' }
  | { readonly kind: 'caughtUp'; readonly rows: number; readonly pages: number }
  | DownNotice
  | FallbackNotice
  | { readonly kind: 'streamAgain'; readonly why: PollReason; readonly perMinute: number }
  | { readonly kind: 'stretched'; readonly perMinute: number; readonly stretched: Stretched }
  /**
   * A budget or the allowance is used up. The tail waits until `until`, when the budget or
   * allowance renews.
   */
  | { readonly kind: 'budget'; readonly until: number; readonly reason: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'unstable'; readonly sessions: number }
  | ({ readonly kind: 'gap' } & Gap)
  | { readonly kind: 'wait'; readonly ms: number; readonly reason: string }
  | { readonly kind: 'frame'; readonly text: string }
  | { readonly kind: 'end'; readonly summary: Summary };

export interface TailStatus extends TailCounts, Omit<FeederFacts, keyof TailCounts> {
  /**
   * The number of iterations of the main loop. A watchdog uses this to detect a loop that hangs.
   */
  readonly turns: number;
  /**
   * If the spending limit ended a walk: the limit with which it would have read all posts since the
   * last verification.
   */
  readonly neededCeiling: number | null;
}
