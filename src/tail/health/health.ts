import type { HandoffHealth } from '../exec/handoff-meter.ts';

/** How a tail currently follows its feed. */
export const healthModes = ['streaming', 'connecting', 'polling', 'store', 'standby', 'waiting'] as const;
export type HealthMode = (typeof healthModes)[number];

/** The state of a running tail, for monitoring. Times are epoch milliseconds. */
export interface TailHealth {
  /** The exit code of the run, and why it ended in one word; null while the run is active. */
  readonly end: { readonly exit: number; readonly reason: string } | null;
  /** Whether the tail has been up to date with its feed at least once. */
  readonly ready: boolean;
  /** Whether the service responds. */
  readonly serviceUp: boolean;
  readonly mode: HealthMode;
  /** When the budget or the allowance renews for which the tail waits; null if it does not wait. */
  readonly waitsUntil: number | null;
  /** Which file of the tail cannot be written and why, so that the tail waits; null if it does not wait. */
  readonly blocked: string | null;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** The time of the last iteration of the main loop. If this time does not advance, the loop hangs. */
  readonly progressAt: number;
  /** The post time up to which every post was printed, except in gaps; null before the first verification. */
  readonly verifiedTo: number | null;
  /** The start of the last complete walk; null before the first one. */
  readonly walkedAt: number | null;
  /** The last printed post: its post time, and how much later it was printed. */
  readonly lastPostAt: number | null;
  readonly lastPostLagMs: number | null;
  readonly rows: number;
  readonly filled: number;
  readonly late: number;
  readonly skipped: number;
  readonly gaps: number;
  readonly reconnects: number;
  readonly pages: number;
  /** Posts per second in the feed. */
  readonly rate: number;
  /** The CU that were certainly charged, and the maximum that may have been charged. */
  readonly spent: number;
  readonly spentAtMost: number;
  readonly perMinute: number;
  /** The CU left of the spending limit and of the key's allowance; null if unlimited or not known. */
  readonly limitLeft: number | null;
  readonly allowanceLeft: number | null;
  /** The CU left of each budget. */
  readonly budgets: readonly { readonly period: string; readonly left: number }[];
  /** The handoff to the command of `--exec`; null without one. */
  readonly handoff: HandoffHealth | null;
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

/** Facts about a run that do not change. */
export interface TailIdentity {
  /**
   * The name of the tail: the name of its status file without the extension. It distinguishes the tail from
   * others on the same machine.
   */
  readonly tail: string;
  readonly command: string;
  readonly version: string;
}
