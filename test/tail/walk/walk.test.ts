import { expect, test } from 'vitest';
import { createTail } from '../../../src/tail/engine.ts';
import type { StartPoint } from '../../../src/tail/ports.ts';
import { tailRow } from '../../../src/tail/post-row.ts';
import { virtualClock } from '../../core/virtual-clock.ts';

const NOW = Date.UTC(2026, 0, 1);

/** The page sizes that a run without following requests of a feed with so many posts, one per second. */
async function sizesOf(posts: number, start: StartPoint): Promise<number[]> {
  const sizes: number[] = [];
  const all = Array.from({ length: posts }, (_, i) => ({ id: `p${i}`, at: NOW - i * 1_000 }));
  const clock = virtualClock(NOW);
  const tail = createTail(
    {
      clock,
      random: () => 0.5,
      source: {
        async page({ before, limit }) {
          sizes.push(limit);
          const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1;
          const shown = all.slice(from, from + limit);
          const rows = shown.map((post) => tailRow(post, 'at')).filter((row) => row !== null);
          const hasMore = from + limit < all.length;
          return { rows, hasMore, nextBefore: hasMore ? (rows.at(-1)?.id ?? null) : null };
        },
        sizes: { step: 20, max: 100 },
        stepCu: 200,
      },
      sink: { write: () => true, flush: async () => true },
      spent: () => ({ cu: 0, atMost: 0 }),
    },
    { feed: 'f', via: 'poll', lagMs: 1_000, noFollow: true, start },
  );
  await tail.run(new AbortController().signal);
  return sizes;
}

const since: StartPoint = { kind: 'since', at: NOW - 86_400_000 };

test('asks for one block at a time at the bottom of a feed', async () => {
  expect(await sizesOf(0, since)).toEqual([20, 20, 20]);
  expect(await sizesOf(5, since)).toEqual([20, 20, 20, 20]);
  expect(await sizesOf(150, since)).toEqual([20, 40, 100, 20, 20, 20]);
  expect(await sizesOf(5, { kind: 'backfill', rows: 500 })).toEqual([20, 20, 20, 20]);
});
