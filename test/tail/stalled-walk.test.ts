import { expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { createTail } from '../../src/tail/engine.ts';
import type { FeedPage } from '../../src/tail/ports.ts';
import { tailRow } from '../../src/tail/row.ts';
import { virtualClock } from '../core/virtual-clock.ts';

const START = Date.UTC(2026, 0, 1);
const posts = Array.from({ length: 20 }, (_, at) =>
  tailRow({ id: `t${at}`, at: START - at * 1_000 }, 'at'),
).filter((row) => row !== null);
const page = (rows: FeedPage['rows'], hasMore: boolean): FeedPage => ({
  rows,
  hasMore,
  nextBefore: rows.at(-1)?.id ?? null,
});
const reject = (): FeedPage => {
  throw new Failure('usage', 'unknown cursor', { code: 'BAD_CURSOR', status: 400 });
};

/** Runs a tail, whose feed is verified up to ten minutes ago, until it reports a gap. Returns why it waited. */
async function waits(newest: () => FeedPage, older: () => FeedPage): Promise<readonly string[]> {
  const reasons = new Set<string>();
  const stop = new AbortController();
  const verified = START - 600_000;
  const tail = createTail(
    {
      clock: virtualClock(START),
      random: () => 0.5,
      source: {
        page: async ({ before }) => (before === undefined ? newest() : older()),
        sizes: { step: 20, max: 20 },
        stepCu: 200,
      },
      sink: { write: () => true, flush: async () => true },
      spent: () => ({ cu: 0, atMost: 0 }),
    },
    {
      start: {
        kind: 'position',
        position: { feed: 'f', start: null, verified, lowest: verified, ids: [] },
      },
      via: 'poll',
      lagMs: 10_000,
      feed: 'f',
      on(notice) {
        if (notice.kind === 'wait') reasons.add(notice.reason);
        if (notice.kind === 'gap') stop.abort(new Error('done'));
      },
    },
  );
  await tail.run(stop.signal);
  return [...reasons];
}

test.each([
  ['rejected cursor', () => page(posts, true), reject, 'the service rejected the cursor of the next page'],
  [
    'early end',
    () => page(posts, false),
    () => page([], false),
    'the service reported the end of the feed too early',
  ],
  [
    'repeated page',
    () => page(posts, true),
    () => page(posts, true),
    'the service sent pages without new posts',
  ],
])(
  'before a walk is repeated after a %s, the notice states this reason',
  async (_, newest, older, reason) => {
    expect(await waits(newest, older)).toEqual([reason]);
  },
);
