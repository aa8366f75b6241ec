import type { HandoffHealth } from '../exec/handoff-meter.ts';

/** How a tail currently follows its feed. */
export const healthModes = ['streaming', 'connecting', 'polling', 'store', 'standby', 'waiting'] as const;
export type HealthMode = (typeof healthModes)[number];

/** The state of a running tail, for monitoring. Times are epoch milliseconds. */
export interface TailHealth {
  /** False once the run has ended. */
  readonly up: boolean;
  /** Whether the tail has caught up with its feed once. */
  readonly ready: boolean;
  /** The service answers. */
  readonly serviceUp: boolean;
  readonly mode: HealthMode;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** When the loop last took a turn; if this does not advance, the loop hangs. */
  readonly progressAt: number;
  /** Everything posted before is printed, except in gaps; null before the first verification. */
  readonly verifiedTo: number | null;
  /** Post time of the last post printed, and how much later it was printed. */
  readonly lastPostAt: number | null;
  readonly lastPostLagMs: number | null;
  readonly rows: number;
  readonly filled: number;
  readonly late: number;
  readonly skipped: number;
  readonly gaps: number;
  readonly reconnects: number;
  readonly pages: number;
  /** Posts per second on the feed. */
  readonly rate: number;
  /** Lower and upper bound of the CU charged. */
  readonly spent: number;
  readonly spentAtMost: number;
  readonly perMinute: number;
  /** CU left of the spending limit and of the key's units; null without a limit, or if unknown. */
  readonly limitLeft: number | null;
  readonly allowanceLeft: number | null;
  /** CU left of each budget. */
  readonly budgets: readonly { readonly period: string; readonly left: number }[];
  /** The handoff to the command of `--exec`; null without one. */
  readonly handoff: HandoffHealth | null;
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

/** Constant facts about a run. */
export interface TailIdentity {
  /** Distinguishes the tails of a machine: the name of the status file without its extension. */
  readonly tail: string;
  readonly command: string;
  readonly version: string;
}
