import { countText, unitsText } from '../../base/units.ts';
import { span } from '../../output/format/time.ts';
import type { Ending } from '../../tail/ending.ts';
import { nothingMeasured, type TailFacts } from '../../tail/health.ts';
import type { RunWriter } from '../../tail/output/run-writer.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { LeaderProof } from '../../tail/stored/leader-proof.ts';
import { StoreProgress } from '../../tail/stored/store-progress.ts';
import type { Context } from '../run/context.ts';
import type { RunStore } from '../run/open-store.ts';
import type { Terminal } from '../run/terminal.ts';
import type { TailFlags } from '../tail/flags.ts';
import { feederText, stagesText } from '../tail/notice-text.ts';
import type { Feeder } from '../tail/run-feed.ts';
import { missingText, storeNoticeText } from './notice-text.ts';

export interface StoredPosts {
  readonly store: RunStore;
  readonly feedId: string;
  readonly flags: TailFlags;
  readonly filter: (row: TailRow) => boolean;
}

/** What reads from the store. */
interface StoredSource {
  run(): Promise<void>;
  /** Up to which post time the posts were delivered. */
  readonly verified: number | null;
  /** How many records were printed in place of posts, and how many were held back. */
  readonly printed: number | null;
  readonly held: number;
}

/** The output of a run that reads from the store. */
export type StoredOutput = Omit<RunWriter<unknown>, 'writer'>;

/** What a run that reads from the store consists of. */
interface StoredRun {
  readonly source: StoredSource;
  readonly output: StoredOutput;
  readonly progress: StoreProgress;
  readonly ending: Ending;
}

/** What is known of a run that reads from the store, which reports it on the terminal. */
export function createStoreProgress({ io, notice }: Terminal, feedId: string): StoreProgress {
  return new StoreProgress(io.clock.now, (event) => notice(storeNoticeText(event, feedId)));
}

/** A run that reads from the store, with its state and its last line in words. */
export function storedFeeder(
  context: Context,
  { store, feedId, flags }: StoredPosts,
  { source, output, progress, ending }: StoredRun,
): Feeder {
  const { clock } = context.terminal.io;
  const began = clock.mono();
  const proof = new LeaderProof(store.link, () => store.keys.feed(feedId), clock);
  const facts = (): TailFacts => ({
    ...nothingMeasured,
    mode: 'store',
    ready: progress.isReady,
    failing: progress.isAway,
    rows: progress.rows,
    held: source.held,
    lastPost: progress.lastPost,
    gaps: progress.missing.length,
    verified: source.verified,
    walkedAgoMs: proof.agoMs(),
    handoff: output.handoff?.() ?? null,
  });
  return {
    watched: { facts, text: () => stateText(facts(), clock.now()) },
    check: output.check,
    async run() {
      if (flags.duration !== undefined) ending.stopAfter(flags.duration, clock);
      const { diskWait } = context.out;
      ending.signal.addEventListener('abort', () => diskWait.close(), { once: true });
      await source.run();
      const { rows, missing } = progress;
      const [first] = missing;
      const parts = [
        countText(rows, 'post'),
        ...stagesText(source),
        first === undefined ? 'no gaps' : countText(missing.length, 'gap'),
        unitsText(context.bill.spent),
      ];
      return {
        line: `stopped after ${span(clock.mono() - began)}: ${parts.join(', ')}`,
        gap: first && ending.hasReader ? missingText(first) : undefined,
      };
    },
    async close() {
      ending.stop();
      await output.close();
    },
  };
}

function stateText(facts: TailFacts, now: number): string {
  const { failing, walkedAgoMs } = facts;
  const reading = failing ? 'the store is not reachable' : 'reading from the store';
  const verified = walkedAgoMs === null ? '' : `verified ${span(walkedAgoMs)} ago`;
  return feederText(facts, now, reading, verified);
}
