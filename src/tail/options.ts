import type { Subscription } from '../contract/frames.ts';
import type { TailNotice } from './notice.ts';
import type { TailRow } from './row.ts';
import type { Seen } from './seen/seen.ts';
import type { Via } from './spend/socket-share.ts';
import type { Timing } from './timing.ts';
import type { StartPoint } from './walk/bounds.ts';

/** Options of a tail. */
export interface TailOptions {
  readonly start: StartPoint;
  readonly via: Via;
  /** The requested maximum delay of posts when polling. */
  readonly lagMs: number;
  readonly subscription?: Subscription | undefined;
  /** Whether the WebSocket delivers a post that appears in pages; by default, it delivers all posts. */
  readonly carries?: ((row: TailRow) => boolean) | undefined;
  /** Whether the post of a frame also appears in the pages that are read; by default, all posts do. */
  readonly scope?: ((row: TailRow) => boolean) | undefined;
  /** Whether to print a post; by default, all posts are printed. */
  readonly filter?: ((row: TailRow) => boolean) | undefined;
  /** The number of rows after which the run ends. */
  readonly count?: number | undefined;
  /** The number of failed requests for the first page after which the run fails. */
  readonly firstTries?: number | undefined;
  readonly durationMs?: number | undefined;
  /** The spending limit of the run in CU; a function if it can be raised during the run. */
  readonly ceiling?: number | (() => number | undefined) | undefined;
  /**
   * Asks the user to raise the limit so that another `cu` can be spent; `spent` is the cost so far. Returns
   * false if the user declines.
   */
  readonly raise?: ((cu: number, spent: number) => Promise<boolean>) | undefined;
  /** If a budget or the allowance is used up, whether the tail waits until it renews instead of ending. */
  readonly waitForBudget?: boolean | undefined;
  /** The fraction of the key's units that the WebSocket may use with `--via auto`, from 0 to 1; by default, 1. */
  readonly socketShare?: number | undefined;
  /** The name of the feed in checkpoints. */
  readonly feed: string;
  /**
   * Whether a later run can resume only from the output file. If so, frames are printed only soon after a
   * verification. By default, true if this run resumes from a file.
   */
  readonly fileIsCheckpoint?: boolean | undefined;
  readonly on?: ((notice: TailNotice) => void) | undefined;
  readonly timing?: Partial<Timing> | undefined;
  /** Replaces the set of seen ids, for tests. */
  readonly seen?: ((floor: number, max: number) => Seen) | undefined;
}
