import { countText } from '../../base/units.ts';
import { span } from '../../output/format/time.ts';
import type { HandoffHealth } from '../../tail/exec/handoff-meter.ts';
import type { TailRow } from '../../tail/row.ts';
import type { Context } from '../context.ts';
import { handoffStateText } from '../tail/exec/handoff-text.ts';
import type { ServiceFlags } from '../tail/service/flags.ts';
import { nothingMeasured, type TailFacts, watchHealth } from '../tail/service/watch.ts';
import { leaderProof } from './leader-proof.ts';
import type { RunStore } from './open-store.ts';

/**
 * Reports the state of a tail that reads from the store, in the same way as that of a tail that reads from
 * the service.
 */
export interface FollowerWatch {
  /** Called when rows were written, or handed over to a command. */
  delivered(rows: readonly TailRow[]): void;
  /** Called with the kind of each event of the follower or group. */
  heard(kind: string): void;
}

/**
 * Creates the watch. A follower has no main loop, so each call of `wake` counts as an iteration, which shows that
 * the event loop is not blocked.
 */
export function watchFollower(
  context: Context,
  {
    store,
    feedId,
    flags,
    handoff,
  }: {
    readonly store: RunStore;
    readonly feedId: string;
    readonly flags: ServiceFlags;
    readonly handoff?: (() => HandoffHealth) | undefined;
  },
): FollowerWatch {
  const { clock } = context.io;
  const feed = store.keys.feed(feedId);
  let [rows, gaps, turns] = [0, 0, 0];
  let [ready, away] = [false, false];
  let last: { readonly at: number; readonly lagMs: number } | undefined;

  const proofOf = leaderProof(store.link, feed, clock);

  const facts = (): TailFacts => ({
    ...nothingMeasured,
    ready,
    serviceUp: !away,
    mode: 'store',
    walkedAt: proofOf(),
    lastPostAt: last?.at ?? null,
    lastPostLagMs: last?.lagMs ?? null,
    rows,
    gaps,
    handoff: handoff?.() ?? null,
  });
  const ago = (at: number) => `${span(Math.max(0, clock.now() - at))} ago`;

  watchHealth(context, flags, {
    facts,
    turns: () => turns,
    wake() {
      turns++;
    },
    text() {
      const { walkedAt } = facts();
      const parts = [
        `${countText(rows, 'post')}${last ? `, the last from ${ago(last.at)}` : ''}`,
        away ? 'the store is not reachable' : 'reading from the store',
        ...(walkedAt === null ? [] : [`verified ${ago(walkedAt)}`]),
      ];
      const waiting = handoff ? handoffStateText(handoff(), clock.now()) : '';
      return [...parts, ...(waiting === '' ? [] : [waiting])].join(' · ');
    },
  });

  return {
    delivered(batch) {
      rows += batch.length;
      const at = batch.findLast((row) => row.at !== null)?.at ?? null;
      if (at !== null) last = { at, lagMs: Math.max(0, clock.now() - at) };
    },
    heard(kind) {
      if (kind === 'gap') gaps++;
      away = kind === 'away';
      if (kind === 'live' || kind === 'active' || kind === 'standby') ready = true;
    },
  };
}
