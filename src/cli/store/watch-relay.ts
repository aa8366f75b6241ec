import type { Clock } from '../../base/clock.ts';
import { span } from '../../output/format/time.ts';
import type { FeedKeys } from '../../store/keys.ts';
import type { Tail } from '../../tail/engine.ts';
import type { HealthMode } from '../../tail/health.ts';
import { statusText } from '../tail/notice-text.ts';
import type { TailFacts, Watched } from '../tail/service/watch.ts';
import { watchedTail } from '../tail/service/watched-tail.ts';
import { leaderProof } from './leader-proof.ts';
import type { RunStore } from './open-store.ts';
import type { RelayObserver } from './relay.ts';

/** The counts that are summed over all terms of a run. */
const counters = [
  ...(['rows', 'filled', 'late', 'skipped', 'gaps'] as const),
  ...(['reconnects', 'pages', 'spent', 'spentAtMost'] as const),
] as const;

type Counts = Pick<TailFacts, (typeof counters)[number]>;

const nothing: Counts = {
  ...{ rows: 0, filled: 0, late: 0, skipped: 0, gaps: 0 },
  ...{ reconnects: 0, pages: 0, spent: 0, spentAtMost: 0 },
};

function added(one: Counts, other: Counts): Counts {
  const sum = { ...one };
  for (const name of counters) sum[name] = one[name] + other[name];
  return sum;
}

type Phase =
  | { readonly kind: 'starting'; readonly mode: HealthMode }
  | { readonly kind: 'away' }
  | { readonly kind: 'standby'; readonly leader: string }
  | { readonly kind: 'leading'; readonly tail: Tail };

/** The state of a relay like that of a tail, over all of its terms as the leader. */
export function watchRelay(
  clock: Clock,
  store: { readonly link: Pick<RunStore['link'], 'use'>; readonly feed: FeedKeys },
): RelayObserver & { readonly watched: Watched } {
  const proofOf = leaderProof(store.link, store.feed, clock);
  let phase: Phase = { kind: 'starting', mode: 'connecting' };
  /** The counts of the terms of this run that have ended. */
  let past = nothing;
  let turns = 0;
  /**
   * Whether the relay has been ready. A relay on standby counts as ready, because it has nothing to catch up
   * with.
   */
  let wasReady = false;
  let last: Pick<TailFacts, 'lastPostAt' | 'lastPostLagMs'> = { lastPostAt: null, lastPostLagMs: null };

  const stateOf = (tail: Tail) => watchedTail(tail, clock.now, undefined).facts();

  /**
   * The state of the relay. In its own term, the verified time is that of its own walks. Before the first of
   * these walks, and while another relay leads, it is the time that the last leader saved in the store.
   */
  const facts = (): TailFacts => {
    if (phase.kind === 'leading') {
      const own = stateOf(phase.tail);
      const { ready, verifiedTo } = own;
      const { lastPostAt, lastPostLagMs } = own.lastPostAt === null ? last : own;
      wasReady ||= ready;
      return {
        ...{ ...own, ...added(past, own), lastPostAt, lastPostLagMs, ready: wasReady },
        verifiedTo,
        walkedAt: own.walkedAt ?? proofOf(),
      };
    }
    wasReady ||= phase.kind === 'standby';
    return {
      ...{ ...past, ...last, rate: 0, perMinute: 0, limitLeft: null, allowanceLeft: null, budgets: [] },
      ready: wasReady,
      serviceUp: phase.kind !== 'away',
      waitsUntil: null,
      mode: phase.kind === 'standby' ? 'standby' : phase.kind === 'away' ? 'connecting' : phase.mode,
      verifiedTo: null,
      walkedAt: proofOf(),
      handoff: null,
    };
  };

  const text = () => {
    if (phase.kind === 'leading') {
      const { rows } = facts();
      return `leading · ${rows.toLocaleString('en-US')} ${rows === 1 ? 'post' : 'posts'} published · ${statusText(phase.tail.status())}`;
    }
    if (phase.kind !== 'standby') return phase.kind === 'away' ? 'waiting for the store' : 'starting';
    const { walkedAt } = facts();
    const verified = walkedAt === null ? '' : ` · verified ${span(Math.max(0, clock.now() - walkedAt))} ago`;
    return `standing by: ${phase.leader} leads this feed${verified}`;
  };

  const watched: Watched = {
    facts,
    text,
    turns: () => turns + (phase.kind === 'leading' ? phase.tail.status().turns : 0),
    wake() {
      // A relay on standby has no main loop, so count this call as an iteration, which shows that the event loop
      // is not blocked.
      if (phase.kind === 'leading') phase.tail.wake();
      else turns++;
    },
  };

  return {
    watched,
    standby(leader) {
      phase = { kind: 'standby', leader };
    },
    away() {
      phase = { kind: 'away' };
    },
    leading(tail) {
      phase = { kind: 'leading', tail };
    },
    ended(tail) {
      const own = stateOf(tail);
      past = added(past, own);
      if (own.lastPostAt !== null) last = { lastPostAt: own.lastPostAt, lastPostLagMs: own.lastPostLagMs };
      turns += tail.status().turns;
      wasReady ||= own.ready;
      phase = { kind: 'starting', mode: own.mode };
    },
  };
}
