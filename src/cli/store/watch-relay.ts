import type { Clock } from '../../base/clock.ts';
import { countText } from '../../base/units.ts';
import type { TailMode } from '../../contract/tail-modes.ts';
import { span } from '../../output/format/time.ts';
import type { FeedKeys } from '../../store/keys.ts';
import type { Tail } from '../../tail/engine.ts';
import { addCounts, nothingMeasured, type TailFacts } from '../../tail/health.ts';
import type { Watched } from '../../tail/status/watch.ts';
import { LeaderProof } from '../../tail/stored/leader-proof.ts';
import type { RunStore } from '../run/open-store.ts';
import { statusText } from '../tail/notice-text.ts';

/** What is known of a relay, over all of its terms as the leader. */
export class RelayState {
  phase: 'starting' | 'away' | 'standby' | 'leading' = 'starting';
  /** The machine that leads while this one is on standby. */
  leader = '';
  tail: Tail | undefined;
  /** The counts of the terms that have ended. */
  past: TailFacts = { ...nothingMeasured, mode: 'connecting' };

  standBy(leader: string): void {
    this.phase = 'standby';
    this.leader = leader;
    // A relay on standby is ready too, because it has nothing to catch up with.
    this.past = { ...this.past, ready: true };
  }

  begin(tail: Tail): void {
    this.phase = 'leading';
    this.tail = tail;
  }

  end(): void {
    const own = this.tail?.status();
    if (own) this.past = this.#with({ ...own, handoff: null });
    this.phase = 'starting';
    this.tail = undefined;
  }

  facts(provenAgoMs: number | null): TailFacts {
    const own = this.tail?.status();
    // Before its own first walk, and while another relay leads, the feed was verified by the last
    // leader.
    if (own)
      return this.#with({ ...own, walkedAgoMs: own.walkedAgoMs ?? provenAgoMs, handoff: null });
    return this.#with({
      ...nothingMeasured,
      mode: this.#mode,
      failing: this.phase === 'away',
      walkedAgoMs: provenAgoMs,
    });
  }

  get #mode(): TailMode {
    if (this.phase === 'standby') return 'standby';
    return this.phase === 'away' ? 'connecting' : this.past.mode;
  }

  #with(own: TailFacts): TailFacts {
    const { past } = this;
    const sums = addCounts(past, own);
    return {
      ...sums,
      handoff: null,
      lastPost: own.lastPost ?? past.lastPost,
      ready: past.ready || own.ready,
    };
  }
}

export function watchRelay(
  state: RelayState,
  clock: Clock,
  store: { readonly link: Pick<RunStore['link'], 'use'>; readonly feed: () => FeedKeys },
): Watched {
  const proof = new LeaderProof(store.link, store.feed, clock);
  const facts = () => state.facts(proof.agoMs());
  return {
    facts,
    loop() {
      const { tail } = state;
      return tail && { turns: tail.status().turns, wake: () => tail.wake() };
    },
    text() {
      const { rows, walkedAgoMs } = facts();
      const { phase, tail, leader } = state;
      if (tail)
        return `leading · ${countText(rows, 'post')} published · ${statusText(tail.status())}`;
      if (phase !== 'standby') return phase === 'away' ? 'waiting for the store' : 'starting';
      const verified = walkedAgoMs === null ? '' : ` · verified ${span(walkedAgoMs)} ago`;
      return `standing by: ${leader} leads this feed${verified}`;
    },
  };
}
