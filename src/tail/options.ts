import type { Subscription } from '../contract/frames.ts';
import type { TailNotice } from './notice.ts';
import type { TailRow } from './row.ts';
import type { Seen } from './seen/seen.ts';
import type { Via } from './spend/socket-share.ts';
import type { Timing } from './timing.ts';
import type { StartPoint } from './walk/bounds.ts';

/** What is asked of a tail. */
export interface TailOptions {
  readonly start: StartPoint;
  readonly via: Via;
  /** The delay aimed at when polling. */
  readonly lagMs: number;
  readonly subscription?: Subscription | undefined;
  /** Whether the subscription brings a row that the pages show; it brings all, unless given. */
  readonly carries?: ((row: TailRow) => boolean) | undefined;
  /** Whether a frame is of the part of the feed that the pages show; all are, unless given. */
  readonly scope?: ((row: TailRow) => boolean) | undefined;
  /** What comes out; everything, unless given. */
  readonly sieve?: ((row: TailRow) => boolean) | undefined;
  /** Rows after which the run ends. */
  readonly count?: number | undefined;
  /** How often the first page may fail before the run does. */
  readonly firstTries?: number | undefined;
  readonly durationMs?: number | undefined;
  /** CU that the run may spend; a function where the limit may be raised meanwhile. */
  readonly ceiling?: number | (() => number | undefined) | undefined;
  /** Asks for a limit that holds `cu` more than the run has `spent`; false if the run ends at its limit. */
  readonly raise?: ((cu: number, spent: number) => Promise<boolean>) | undefined;
  /** Waits where a budget is used up, until it renews; the run ends otherwise. */
  readonly waitForBudget?: boolean | undefined;
  /** The part of the key's units that the socket may use in `auto`. */
  readonly socketShare?: number | undefined;
  /** Names the feed in a checkpoint. */
  readonly feed: string;
  /** A later run resumes from the output alone: nothing is emitted long after the last verification. */
  readonly fileIsCheckpoint?: boolean | undefined;
  readonly on?: ((notice: TailNotice) => void) | undefined;
  readonly timing?: Partial<Timing> | undefined;
  /** Another memory of ids, for tests. */
  readonly seen?: ((floor: number, max: number) => Seen) | undefined;
}
