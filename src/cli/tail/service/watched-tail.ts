import { span } from '../../../output/format/time.ts';
import type { Tail } from '../../../tail/engine.ts';
import type { HealthMode } from '../../../tail/health/health.ts';
import type { TailStatus } from '../../../tail/notice.ts';
import { statusText } from '../notice-text.ts';
import type { TailFacts, Watched } from './watch.ts';

/** A tail in the form that the health watch needs. */
export function watchedTail(tail: Tail, now: () => number): Watched {
  return {
    facts: () => factsOf(tail.status(), now()),
    turns: () => tail.status().turns,
    wake: tail.wake,
    text() {
      const status = tail.status();
      const { rows, lastPost } = status;
      const last = lastPost === null ? '' : `, the last from ${span(Math.max(0, now() - lastPost.at))} ago`;
      return `${rows.toLocaleString('en-US')} ${rows === 1 ? 'post' : 'posts'}${last} · ${statusText(status)}`;
    },
  };
}

function factsOf(status: TailStatus, now: number): TailFacts {
  const { provenAgoMs, lastPost, nameless, connections, spent, failing } = status;
  return {
    ready: provenAgoMs !== null,
    serviceUp: !failing,
    mode: modeOf(status),
    verifiedTo: provenAgoMs === null ? null : now - provenAgoMs,
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
    spent: spent.least,
    spentAtMost: spent.most,
    perMinute: status.perMinute,
    limitLeft: status.ceilingLeft,
    allowanceLeft: status.allowanceLeft,
    budgets: status.budgets.map(({ period = 'all', left }) => ({ period, left })),
  };
}

const modeOf = ({ mode, connected, waiting }: TailStatus): HealthMode =>
  waiting ? 'waiting' : mode === 'poll' ? 'polling' : connected ? 'streaming' : 'connecting';
