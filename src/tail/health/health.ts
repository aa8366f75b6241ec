/** How a tail follows its feed at the moment. */
export const healthModes = ['streaming', 'connecting', 'polling', 'store', 'waiting'] as const;
export type HealthMode = (typeof healthModes)[number];

/** Everything that is told about a running tail to those who watch it. Times are epoch milliseconds. */
export interface TailHealth {
  /** False once the run has ended. */
  readonly up: boolean;
  /** The first proof is there: the tail has caught up with its feed. */
  readonly ready: boolean;
  /** The service answers. */
  readonly serviceUp: boolean;
  readonly mode: HealthMode;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** When the loop last took a turn: it hangs if this stands still. */
  readonly progressAt: number;
  /** Everything posted before is printed, except in gaps; null before the first proof. */
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
  /** Posts a second on the feed. */
  readonly rate: number;
  /** CU charged for certain, and at most. */
  readonly spent: number;
  readonly spentAtMost: number;
  readonly perMinute: number;
  /** CU left of the spending limit and of the key's units; null without a limit, or where it is not known. */
  readonly limitLeft: number | null;
  readonly allowanceLeft: number | null;
  /** CU left of each budget. */
  readonly budgets: readonly { readonly period: string; readonly left: number }[];
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

/** What stays the same during a run. */
export interface TailIdentity {
  /** Distinguishes the tails of a machine: the name of the status file without its extension. */
  readonly tail: string;
  readonly command: string;
  readonly version: string;
}
