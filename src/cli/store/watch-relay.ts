import type { Clock } from '../../base/clock.ts';
import { countText } from '../../base/units.ts';
import { span } from '../../output/format/time.ts';
import type { FeedKeys } from '../../store/keys.ts';
import type { Tail } from '../../tail/engine.ts';
import {
  addCounts,
  type FeederFacts,
  type HealthMode,
  nothingMeasured,
  type TailFacts,
} from '../../tail/health.ts';
import { statusText } from '../tail/notice-text.ts';
import type { Watched } from '../tail/service/watch.ts';
import { leaderProof } from './leader-proof.ts';
import type { RunStore } from './open-store.ts';
import type { RelayObserver } from './relay.ts';

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
  let past: FeederFacts = nothingMeasured;
  let turns = 0;
  /** A relay on standby is ready too, because it has nothing to catch up with. */
  let wasReady = false;
  let lastPost: TailFacts['lastPost'] = null;

  /**
   * In its own term, the verified time is that of its own walks. Before the first of these walks, and while another relay
   * leads, it is the time that the last leader saved in the store.
   */
  const facts = (): TailFacts => {
    if (phase.kind === 'leading') {
      const own = phase.tail.status();
      wasReady ||= own.ready;
      return {
        ...{ ...addCounts(past, own), lastPost: own.lastPost ?? lastPost, ready: wasReady },
        walkedAgoMs: own.walkedAgoMs ?? proofOf(),
        handoff: null,
      };
    }
    wasReady ||= phase.kind === 'standby';
    return {
      ...{ ...addCounts(past, nothingMeasured), lastPost, ready: wasReady, handoff: null },
      failing: phase.kind === 'away',
      mode: phase.kind === 'standby' ? 'standby' : phase.kind === 'away' ? 'connecting' : phase.mode,
      walkedAgoMs: proofOf(),
    };
  };

  const text = () => {
    const { rows, walkedAgoMs } = facts();
    if (phase.kind === 'leading')
      return `leading · ${countText(rows, 'post')} published · ${statusText(phase.tail.status())}`;
    if (phase.kind !== 'standby') return phase.kind === 'away' ? 'waiting for the store' : 'starting';
    const verified = walkedAgoMs === null ? '' : ` · verified ${span(walkedAgoMs)} ago`;
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
      const own = tail.status();
      past = addCounts(past, own);
      lastPost = own.lastPost ?? lastPost;
      turns += own.turns;
      wasReady ||= own.ready;
      phase = { kind: 'starting', mode: own.mode };
    },
  };
}
