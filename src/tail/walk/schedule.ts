import type { Timing } from '../timing.ts';

/** The reason for a walk. */
export type WalkReason = 'start' | 'gap' | 'confirm' | 'audit' | 'outage' | 'poll' | 'final';

/** The time of the next walk, and its reason. */
export interface WalkPlan {
  readonly why: WalkReason;
  readonly due: number;
}

/** The state that the plan depends on; all times are monotonic. */
export interface WalkState {
  readonly started: boolean;
  /** The run is ending and needs a last verification. */
  readonly ending: boolean;
  /** A subscription or a change of mode requires a walk that starts after it. */
  readonly wanted: boolean;
  readonly mode: 'ws' | 'poll';
  readonly connected: boolean;
  /** When the last walk started. */
  readonly lastAt: number;
  /** When the walk after the last connection started. */
  readonly gapAt: number;
  readonly confirmed: number;
  readonly downSince: number;
  readonly pollMs: number;
  readonly lagMs: number;
}

const NOW = Number.NEGATIVE_INFINITY;

/** Plans the next walk: the only place that decides when pages are read. */
export function planWalk(state: WalkState, timing: Timing): WalkPlan {
  if (!state.started) return { why: 'start', due: NOW };
  if (state.ending) return { why: 'final', due: NOW };
  if (state.wanted) return { why: 'gap', due: NOW };
  if (state.mode === 'poll') return { why: 'poll', due: state.lastAt + state.pollMs };
  // While disconnected, polls maintain the requested lag.
  if (!state.connected) return { why: 'outage', due: Math.max(state.downSince, state.lastAt) + state.lagMs };
  const confirm = timing.confirmMs[state.confirmed];
  if (confirm !== undefined) return { why: 'confirm', due: state.gapAt + confirm };
  return { why: 'audit', due: state.lastAt + timing.auditMs };
}
