import type { BudgetLeft } from './ports.ts';
import type { PostMark } from './row.ts';
import type { TailCost } from './spend/cost-meter.ts';
import type { Mode, PollReason } from './spend/socket-share.ts';
import type { Cut } from './walk/page-request.ts';
/** Where a run starts. */
export type StartKind = 'now' | 'backfill' | 'since' | 'checkpoint' | 'file';

/** A part of the feed that was not read. Its bounds are posts that were read. */
export interface Gap {
  /** Why it was not read: the message of the failure that ended the run, or the reason why a walk ended early. */
  readonly why: Cut | { readonly failure: string };
  /**
   * The post before the gap, up to which the feed is complete. Null if only late posts can be missing, or if no
   * post before the gap was verified.
   */
  readonly from: PostMark | null;
  /** Late posts since this post time may be missing too; null if this time is not known. */
  readonly lateFrom: number | null;
  /** The oldest post that was read after the gap; null if the gap extends to the end of the run. */
  readonly to: PostMark | null;
  /** Whether the next run, which resumes where this one stopped, will read it. It is then not reported as a gap. */
  readonly open: boolean;
}

/** Why a connection ended or could not be opened. */
export type DownReason =
  | 'closed'
  | 'reset'
  | 'silent'
  | 'suspended'
  | 'incomplete'
  | 'overflow'
  | 'blocked'
  | 'unanswered'
  | 'refused';

/** Why a run ended. */
export type EndReason = 'stopped' | 'count' | 'duration' | 'reader' | 'failure';

/** The result of a run. */
export interface Summary {
  readonly reason: EndReason;
  readonly rows: number;
  /** The number of rows posted before the start of the run. They were printed first, and `rows` excludes them. */
  readonly earlier: number;
  /** The number of rows that the WebSocket should have delivered but only a walk found. */
  readonly filled: number;
  /** The number of rows that appeared late in pages. */
  readonly late: number;
  /** The gaps that no later run will fill. */
  readonly gaps: readonly Gap[];
  /** The number of skipped posts without an id. */
  readonly nameless: number;
  readonly connections: number;
  readonly pages: number;
  readonly spent: TailCost;
  /** The newest verified post, up to which the feed is complete except for the gaps; null if there is none. */
  readonly verifiedTo: PostMark | null;
  readonly durationMs: number;
  /**
   * The time, by the local clock, up to which the feed is complete except for the gaps. Null if no walk has verified
   * the feed, or if the output failed.
   */
  readonly completeTo: number | null;
}

/** A polling interval that is long enough for a budget to last until it renews. */
export interface Stretched {
  readonly everyMs: number;
  /** When the budget renews, in epoch milliseconds. */
  readonly until: number;
}

/** What the tail reports to the command. */
export type TailNotice =
  | {
      readonly kind: 'start';
      readonly from: StartKind;
      readonly mode: Mode;
      /** Why the tail polls; undefined if it streams. */
      readonly why: PollReason | undefined;
      readonly perMinute: number;
      readonly other: { readonly mode: Mode; readonly perMinute: number } | null;
      readonly lagMs: number;
      /**
       * The polling interval and the time at which the budget renews, if a budget makes the interval longer
       * than the requested lag.
       */
      readonly stretched?: Stretched | undefined;
    }
  | { readonly kind: 'connected'; readonly times: number }
  | { readonly kind: 'unacknowledged' }
  | { readonly kind: 'nameless' }
  | { readonly kind: 'caughtUp'; readonly rows: number; readonly pages: number }
  | { readonly kind: 'down'; readonly why: DownReason; readonly text: string; readonly waitMs: number }
  | {
      readonly kind: 'fallback';
      readonly why: PollReason;
      readonly perMinute: number;
      readonly stretched?: Stretched | undefined;
    }
  /** A budget or the allowance has renewed, and streaming is possible again. */
  | { readonly kind: 'streamAgain'; readonly why: PollReason; readonly perMinute: number }
  /** The polling interval was changed to make a budget last. */
  | { readonly kind: 'stretched'; readonly perMinute: number; readonly stretched: Stretched }
  /**
   * A budget or the allowance is used up. The tail waits until `until`, when the budget or allowance renews.
   */
  | { readonly kind: 'budget'; readonly until: number; readonly reason: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'unstable'; readonly sessions: number; readonly cuAtMost: number }
  | ({ readonly kind: 'gap' } & Gap)
  /**
   * There were too many posts between two walks to remember all their ids. If the WebSocket did not deliver a
   * post of this range, no walk can find that post.
   */
  | { readonly kind: 'unverified'; readonly from: PostMark | null; readonly to: PostMark }
  | { readonly kind: 'late'; readonly rows: number; readonly worstMs: number }
  | { readonly kind: 'margin'; readonly ms: number }
  | { readonly kind: 'wait'; readonly ms: number; readonly reason: string }
  | { readonly kind: 'frame'; readonly text: string }
  | { readonly kind: 'end'; readonly summary: Summary };

/** The last printed post: its post time, and how much later it was printed. */
export interface LastPost {
  readonly at: number;
  readonly lagMs: number;
}

/** The current state of a run, for the status line and for monitoring. */
export interface TailStatus {
  readonly mode: Mode;
  readonly connected: boolean;
  /** Whether the last request for a page failed, for a reason other than used-up units. */
  readonly failing: boolean;
  /** When the budget or the allowance renews for which the tail waits, in epoch ms; null if it does not wait. */
  readonly waitsUntil: number | null;
  readonly rows: number;
  readonly pages: number;
  readonly nameless: number;
  readonly lastPost: LastPost | null;
  /** The CU left of the spending limit and of the key's allowance; null if unlimited or unknown. */
  readonly ceilingLeft: number | null;
  readonly allowanceLeft: number | null;
  readonly budgets: readonly BudgetLeft[];
  /** The number of iterations of the main loop. A watchdog uses this to detect a loop that hangs. */
  readonly turns: number;
  /** Posts per second in the feed. */
  readonly rate: number;
  readonly gaps: number;
  readonly filled: number;
  readonly late: number;
  readonly connections: number;
  readonly spent: TailCost;
  /** CU per minute in the current mode. */
  readonly perMinute: number;
  readonly verifiedTo: PostMark | null;
  /** Milliseconds since the start of the walk that last verified the feed. */
  readonly verifiedAgoMs: number | null;
}
