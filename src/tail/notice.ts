import type { BudgetLeft } from './ports.ts';
import type { PostMark } from './row.ts';
import type { TailCost } from './spend/cost-meter.ts';
import type { Mode, PollReason } from './spend/socket-share.ts';
import type { Cut } from './walk/walk.ts';

/** Where a run starts. */
export type StartKind = 'now' | 'backfill' | 'since' | 'checkpoint' | 'file';

/** A part of the feed that could not be read. Both bounds were read, or are null if unknown. */
export interface Gap {
  readonly why: Cut | 'failing';
  /** The newest complete post below the gap; null if only late posts can be missing. */
  readonly from: PostMark | null;
  /** The post time from which late posts may be missing too. */
  readonly lateFrom: number | null;
  /** The oldest post read above the gap; null if the gap extends to the end of the run. */
  readonly to: PostMark | null;
  /** Whether a later run that resumes from the checkpoint will read it. */
  readonly open: boolean;
}

/** Why a connection ended. */
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
  /** Rows that only a walk found while streaming, and rows that appeared late in pages. */
  readonly filled: number;
  readonly late: number;
  readonly gaps: readonly Gap[];
  /** The number of skipped posts without an id. */
  readonly nameless: number;
  readonly connections: number;
  readonly pages: number;
  readonly spent: TailCost;
  /** The newest verified post: everything up to it is complete, except for the gaps. */
  readonly provenTo: PostMark | null;
  readonly durationMs: number;
  /** The local time up to which everything is complete, except for the gaps; null if nothing was verified. */
  readonly completeTo: number | null;
}

/** A polling interval with which a budget lasts until it renews. */
export interface Stretched {
  readonly everyMs: number;
  /** Epoch milliseconds. */
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
      /** The polling interval and the renewal of its budget, if the interval is longer than the lag. */
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
  /** A budget has renewed, and streaming is possible again. */
  | { readonly kind: 'streamAgain'; readonly perMinute: number }
  /** The polling interval was adapted to the rest of a budget. */
  | { readonly kind: 'stretched'; readonly perMinute: number; readonly stretched: Stretched }
  /** A budget or the allowance is used up: the tail waits until it renews at `until`. */
  | { readonly kind: 'budget'; readonly until: number; readonly reason: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'unstable'; readonly sessions: number; readonly cuAtMost: number }
  | ({ readonly kind: 'gap' } & Gap)
  /** Too many posts between two walks to remember all ids: posts that the socket lost in this range were not found. */
  | { readonly kind: 'unproven'; readonly from: PostMark | null; readonly to: PostMark }
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
  /** Whether requests for pages fail at present. */
  readonly failing: boolean;
  /** A budget or the allowance is used up, and the tail waits until it renews. */
  readonly waiting: boolean;
  readonly rows: number;
  readonly pages: number;
  readonly nameless: number;
  readonly lastPost: LastPost | null;
  /** The CU left of the spending limit and of the key's allowance; null if unlimited or unknown. */
  readonly ceilingLeft: number | null;
  readonly allowanceLeft: number | null;
  readonly budgets: readonly BudgetLeft[];
  /** The number of turns of the loop, by which a watchdog detects that it hangs. */
  readonly turns: number;
  /** The posts per second of the feed. */
  readonly rate: number;
  readonly gaps: number;
  readonly filled: number;
  readonly late: number;
  readonly connections: number;
  readonly spent: TailCost;
  /** The CU per minute of the current mode. */
  readonly perMinute: number;
  readonly provenTo: PostMark | null;
  /** Milliseconds since the start of the walk that verified it. */
  readonly provenAgoMs: number | null;
}
