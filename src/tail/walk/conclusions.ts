import type { Clock } from '../../base/clock.ts';
import type { Failure } from '../../base/failure.ts';
import { ceilingReached } from '../failures.ts';
import type { Filled, Flow } from '../flow.ts';
import type { TailNotice } from '../notice.ts';
import type { Printing } from '../output/printing.ts';
import type { TailReport } from '../report.ts';
import type { TailRow } from '../row.ts';
import type { Session } from '../socket/session.ts';
import type { SocketPolicy } from '../socket/socket-policy.ts';
import type { Rate } from '../spend/pace.ts';
import { modeOf, subscribedLink } from '../state.ts';
import type { Walker } from './walker.ts';

interface ConclusionParts {
  readonly clock: Clock;
  readonly flow: Flow;
  readonly walker: Walker;
  readonly session: Session;
  readonly policy: SocketPolicy;
  readonly printing: () => Printing;
  readonly rate: Rate;
  readonly report: TailReport;
  readonly notify: (notice: TailNotice) => void;
  /** Called when no further page can be paid for. */
  readonly spent: (failure: Failure) => void;
}

/**
 * A connection that delivered no frames since the previous walk counts as broken if a walk finds this many posts
 * that the connection should have delivered.
 */
const MISSED_ROWS = 3;

/**
 * Handles a walk whose rows were printed: updates the rate of the feed and the margin, and checks whether the
 * WebSocket works.
 */
export function createConclusions(parts: ConclusionParts): (done: Filled) => void {
  const { flow, walker, session, policy, rate, report } = parts;
  let ratedAt = parts.clock.mono();
  let walkedBefore = Number.POSITIVE_INFINITY;

  const learn = ({ walked, depth, fresh, worstMs }: Filled) => {
    if (walker.started) rate.add(fresh + parts.printing().frames, walked.startedAt - ratedAt);
    else rate.add(walked.first.length - 1, spanOf(walked.first));
    ratedAt = walked.startedAt;
    if (depth !== 'deep' || walked.cut) return;
    const was = flow.margin.ms;
    flow.margin.learn(worstMs, walked.rows);
    if (flow.margin.ms !== was) parts.notify({ kind: 'margin', ms: flow.margin.ms });
  };

  return (done) => {
    const { walked, depth } = done;
    const { state } = session;
    report.walked(done, {
      catchingUp: !walker.started || state.kind === 'catchingUp',
      filled: walker.started && modeOf(state) === 'ws',
    });
    learn(done);
    const frames = parts.printing().takeFrames();
    const incomplete =
      state.kind === 'live' && frames === 0 && state.link.held === 0 && done.missed >= MISSED_ROWS;
    policy.sawPosts(done.fresh, walkedBefore);
    walkedBefore = walked.startedAt;
    walker.emitted(done);
    if (walked.cut === 'ceiling' || walked.cut === 'budget' || walked.cut === 'quota') {
      return parts.spent(walked.failure ?? ceilingReached());
    }
    if (incomplete) session.drop('incomplete', 'pages contained posts that the WebSocket did not deliver');
    if (depth === 'shallow') return;
    parts.printing().walked(walked.startedAt);
    // Print frames only after a walk that started after the subscription.
    const subscribed = subscribedLink(state) && 'subscribedAt' in state ? state.subscribedAt : undefined;
    if (subscribed !== undefined && !walker.wanted && walked.startedAt >= subscribed) session.goLive();
  };
}

/** The time between the first and the last of these posts. */
const spanOf = (rows: readonly TailRow[]): number => (rows[0]?.at ?? 0) - (rows.at(-1)?.at ?? 0);
