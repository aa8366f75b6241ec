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
  /** The target delay when polling. */
  readonly lagMs: number;
  readonly subscription?: Subscription | undefined;
  /** Whether the subscription delivers a row that pages show; default: all rows. */
  readonly carries?: ((row: TailRow) => boolean) | undefined;
  /** Whether a frame belongs to the part of the feed that pages show; default: all frames. */
  readonly scope?: ((row: TailRow) => boolean) | undefined;
  /** Whether to print a row; default: all rows. */
  readonly filter?: ((row: TailRow) => boolean) | undefined;
  /** The number of rows after which the run ends. */
  readonly count?: number | undefined;
  /** The number of failures of the first page after which the run fails. */
  readonly firstTries?: number | undefined;
  readonly durationMs?: number | undefined;
  /** The spending limit of the run in CU; a function if it can be raised meanwhile. */
  readonly ceiling?: number | (() => number | undefined) | undefined;
  /** Asks the user for a limit that covers another `cu` beyond what is `spent`; false if the run ends at its limit. */
  readonly raise?: ((cu: number, spent: number) => Promise<boolean>) | undefined;
  /** Whether the tail waits until an exhausted budget renews; otherwise the run ends. */
  readonly waitForBudget?: boolean | undefined;
  /** The share of the key's units that the socket may use with `auto`. */
  readonly socketShare?: number | undefined;
  /** The name of the feed in checkpoints. */
  readonly feed: string;
  /** A later run resumes only from the output, so nothing is printed long after the last verification. */
  readonly fileIsCheckpoint?: boolean | undefined;
  readonly on?: ((notice: TailNotice) => void) | undefined;
  readonly timing?: Partial<Timing> | undefined;
  /** Replaces the set of seen ids, for tests. */
  readonly seen?: ((floor: number, max: number) => Seen) | undefined;
}
