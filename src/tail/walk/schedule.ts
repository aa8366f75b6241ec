import type { Timing } from '../timing.ts';

export interface WalkPlan {
  readonly why: 'start' | 'gap' | 'confirm' | 'audit' | 'outage' | 'poll' | 'final';
  readonly due: number;
}

/** The state on which the plan depends. All times are monotonic. */
export interface WalkState {
  readonly isStarted: boolean;
  /** Whether the run is ending and needs a last verification. */
  readonly isEnding: boolean;
  /** Whether a deep walk (see `Depth`) is requested, for example after a subscription. */
  readonly isWanted: boolean;
  readonly mode: 'ws' | 'poll';
  readonly isConnected: boolean;
  readonly lastAt: number;
  readonly printedAt: number;
  /**
   * The start time of the last finished walk that was requested (see `isWanted`); `confirmMs`
   * counts from it.
   */
  readonly gapAt: number;
  readonly confirmed: number;
  readonly downSince: number;
  readonly pollMs: number;
  readonly lagMs: number;
  readonly auditMs: number;
}

const NOW = Number.NEGATIVE_INFINITY;

export function planWalk(state: WalkState, { confirmMs }: Pick<Timing, 'confirmMs'>): WalkPlan {
  if (!state.isStarted) return { why: 'start', due: NOW };
  if (state.isEnding) return { why: 'final', due: NOW };
  if (state.isWanted) return { why: 'gap', due: NOW };
  if (state.mode === 'poll') return { why: 'poll', due: state.lastAt + state.pollMs };
  // From the end of the last walk: connections open between walks, so long walks would otherwise
  // prevent them all.
  if (!state.isConnected)
    return { why: 'outage', due: Math.max(state.downSince, state.printedAt) + state.lagMs };
  const confirm = confirmMs[state.confirmed];
  if (confirm !== undefined) return { why: 'confirm', due: state.gapAt + confirm };
  return { why: 'audit', due: state.lastAt + state.auditMs };
}
