import type { BudgetLeft } from './ports.ts';
import type { PostMark } from './row.ts';
import type { TailCost } from './spend/cost-meter.ts';
import type { Mode, PollReason } from './spend/socket-share.ts';
import type { Cut } from './walk/walk.ts';

/** Where a run begins. */
export type StartKind = 'now' | 'backfill' | 'since' | 'checkpoint' | 'file';

/** A stretch of the feed that could not be read. Both bounds were read, or are null where nothing is known. */
export interface Gap {
  readonly why: Cut | 'failing';
  /** The newest place below that is complete, but for posts that turned up late; null where only those can be missing. */
  readonly from: PostMark | null;
  /** Post time from which such late posts may be missing too. */
  readonly lateFrom: number | null;
  /** The oldest place above that was read; null where the gap lasts until the end of the run. */
  readonly to: PostMark | null;
  /** A later run that resumes from the checkpoint will read it. */
  readonly open: boolean;
}

/** Why a connection ended. */
export type DownReason =
  | 'closed'
  | 'reset'
  | 'silent'
  | 'slept'
  | 'deaf'
  | 'overflow'
  | 'blocked'
  | 'unanswered'
  | 'refused';

/** Why a run ended. */
export type EndReason = 'stopped' | 'count' | 'duration' | 'reader' | 'failure';

/** What a run came to. */
export interface Summary {
  readonly reason: EndReason;
  readonly rows: number;
  /** Of these, what only a walk found while the socket was up, and what turned up late in the pages. */
  readonly filled: number;
  readonly late: number;
  readonly gaps: readonly Gap[];
  /** Posts without an id, which were skipped. */
  readonly nameless: number;
  readonly connections: number;
  readonly pages: number;
  readonly spent: TailCost;
  /** The newest post of the last verified page: everything up to here is complete, except for the gaps. */
  readonly provenTo: PostMark | null;
  readonly durationMs: number;
  /** Up to this time of the local clock everything is complete, except for the gaps; null where nothing was verified. */
  readonly completeTo: number | null;
}

/** An interval of polls that makes a budget last. */
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
      readonly way: Mode;
      /** Why it is polls, where it is. */
      readonly why: PollReason | undefined;
      readonly perMinute: number;
      readonly other: { readonly way: Mode; readonly perMinute: number } | null;
      readonly lagMs: number;
      /** The interval of polls, and until when it makes a budget last, where it is longer than the lag. */
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
  /** The interval of polls has changed with what a budget has left. */
  | { readonly kind: 'stretched'; readonly perMinute: number; readonly stretched: Stretched }
  /** A budget is used up: nothing is requested until it renews, at `until`. */
  | { readonly kind: 'budget'; readonly until: number; readonly reason: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'unstable'; readonly sessions: number; readonly cuAtMost: number }
  | ({ readonly kind: 'gap' } & Gap)
  /** Too many posts between two walks to remember them all: what the socket lost here was not looked for. */
  | { readonly kind: 'unproven'; readonly from: PostMark | null; readonly to: PostMark }
  | { readonly kind: 'late'; readonly rows: number; readonly worstMs: number }
  | { readonly kind: 'margin'; readonly ms: number }
  | { readonly kind: 'wait'; readonly ms: number; readonly reason: string }
  | { readonly kind: 'frame'; readonly text: string }
  | { readonly kind: 'end'; readonly summary: Summary };

/** The post that was printed last: its time, and how long after that it was printed. */
export interface LastPost {
  readonly at: number;
  readonly lagMs: number;
}

/** How a run stands at this moment, for a status line and for monitoring. */
export interface TailStatus {
  readonly way: Mode;
  readonly connected: boolean;
  /** The service does not answer pages at the moment. */
  readonly failing: boolean;
  /** A budget is used up, and nothing is requested until it renews. */
  readonly waiting: boolean;
  readonly rows: number;
  readonly pages: number;
  readonly nameless: number;
  readonly lastPost: LastPost | null;
  /** CU left of the spending limit, and of the key's units; null without a limit, or where it is not known. */
  readonly ceilingLeft: number | null;
  readonly allowanceLeft: number | null;
  readonly budgets: readonly BudgetLeft[];
  /** Grows with every turn of the loop: a watchdog sees by it whether the tail still works. */
  readonly turns: number;
  /** Posts a second on the feed. */
  readonly rate: number;
  readonly gaps: number;
  readonly filled: number;
  readonly late: number;
  readonly connections: number;
  readonly spent: TailCost;
  /** CU a minute of the way in use. */
  readonly perMinute: number;
  readonly provenTo: PostMark | null;
  /** Milliseconds since the walk that proved it was started. */
  readonly provenAgoMs: number | null;
}
