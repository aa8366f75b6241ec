import { countText } from '../../../base/units.ts';
import { span } from '../../../output/format/time.ts';
import type { Tail } from '../../../tail/engine.ts';
import type { HandoffHealth } from '../../../tail/exec/handoff-meter.ts';
import type { HealthMode } from '../../../tail/health.ts';
import type { TailStatus } from '../../../tail/notice.ts';
import { handoffStateText } from '../exec/handoff-text.ts';
import { statusText } from '../notice-text.ts';
import type { TailFacts, Watched } from './watch.ts';

/** The state of a tail for the health watch. */
export function watchedTail(
  tail: Tail,
  now: () => number,
  handoff: (() => HandoffHealth) | undefined,
): Watched {
  return {
    facts: () => ({ ...factsOf(tail.status(), now()), handoff: handoff?.() ?? null }),
    turns: () => tail.status().turns,
    wake: tail.wake,
    text() {
      const status = tail.status();
      const { rows, lastPost } = status;
      const last = lastPost === null ? '' : `, the last from ${span(Math.max(0, now() - lastPost.at))} ago`;
      const parts = [
        `${countText(rows, 'post')}${last}`,
        statusText(status),
        handoff ? handoffStateText(handoff(), now()) : '',
      ];
      return parts.filter((part) => part !== '').join(' · ');
    },
  };
}

function factsOf(status: TailStatus, now: number): Omit<TailFacts, 'handoff'> {
  const { walkedAgoMs, lastPost, nameless, connections, spent, failing } = status;
  return {
    ready: walkedAgoMs !== null,
    serviceUp: !failing,
    mode: modeOf(status),
    waitsUntil: status.waitsUntil,
    verifiedTo: status.verified,
    walkedAt: walkedAgoMs === null ? null : now - walkedAgoMs,
    lastPostAt: lastPost?.at ?? null,
    lastPostLagMs: lastPost?.lagMs ?? null,
    rows: status.rows,
    filled: status.filled,
    late: status.late,
    skipped: nameless,
    gaps: status.gaps,
    reconnects: Math.max(0, connections - 1),
    pages: status.pages,
    rate: status.rate,
    spent: spent.cu,
    spentAtMost: spent.atMost,
    perMinute: status.perMinute,
    limitLeft: status.limitLeft,
    allowanceLeft: status.allowanceLeft,
    budgets: status.budgets.map(({ period = 'all', left }) => ({ period, left })),
  };
}

const modeOf = ({ mode, connected, waitsUntil }: TailStatus): HealthMode =>
  waitsUntil !== null ? 'waiting' : mode === 'poll' ? 'polling' : connected ? 'streaming' : 'connecting';
