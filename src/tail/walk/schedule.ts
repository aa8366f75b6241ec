import type { Timing } from '../timing.ts';

/** Why a walk is made. */
export type WalkReason = 'start' | 'gap' | 'confirm' | 'audit' | 'outage' | 'poll' | 'final';

/** When the next walk is due, and why. */
export interface WalkPlan {
  readonly why: WalkReason;
  readonly due: number;
}

/** What the plan rests on; all times are monotonic. */
export interface WalkState {
  readonly started: boolean;
  /** The run is ending, and wants a last proof. */
  readonly ending: boolean;
  /** A subscription, or a change of ways, asks for a walk that begins after it. */
  readonly wanted: boolean;
  readonly way: 'ws' | 'poll';
  readonly connected: boolean;
  /** When the last walk began. */
  readonly lastAt: number;
  /** When the walk after the last connection began. */
  readonly gapAt: number;
  readonly confirmed: number;
  readonly downSince: number;
  readonly pollMs: number;
  readonly lagMs: number;
}

const NOW = Number.NEGATIVE_INFINITY;

/** The one place that says when pages are read. */
export function planWalk(state: WalkState, timing: Timing): WalkPlan {
  if (!state.started) return { why: 'start', due: NOW };
  if (state.ending) return { why: 'final', due: NOW };
  if (state.wanted) return { why: 'gap', due: NOW };
  if (state.way === 'poll') return { why: 'poll', due: state.lastAt + state.pollMs };
  // Without a socket, polls maintain the lag that was asked for.
  if (!state.connected) return { why: 'outage', due: Math.max(state.downSince, state.lastAt) + state.lagMs };
  const confirm = timing.confirmMs[state.confirmed];
  if (confirm !== undefined) return { why: 'confirm', due: state.gapAt + confirm };
  return { why: 'audit', due: state.lastAt + timing.auditMs };
}
