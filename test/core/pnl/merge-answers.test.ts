import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOrder } from '../../../src/core/pnl/merge-answers.ts';
import type { PnlResult } from '../../../src/core/pnl/request-batch.ts';

const at = (position: number): PnlResult => ({
  position,
  record: { subject: `t${position}`, found: true },
});

async function gather(results: AsyncIterable<PnlResult>) {
  const positions: number[] = [];
  try {
    for await (const { position } of results) positions.push(position);
    return { positions, error: undefined };
  } catch (error) {
    return { positions, error };
  }
}

test('yields every answer once and in order, whatever the order in which requested answers arrive', async () => {
  const cases = fc.record({
    size: fc.integer({ min: 0, max: 40 }),
    cached: fc.func(fc.boolean()),
    batch: fc.integer({ min: 1, max: 7 }),
    seed: fc.integer(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ size, cached, batch, seed }) => {
      const all = Array.from({ length: size }, (_, position) => position);
      const todo = all.filter((position) => !cached(position));
      todo.sort((a, b) => ((a * 7919 + seed) % 101) - ((b * 7919 + seed) % 101));
      async function* requested() {
        for (let from = 0; from < todo.length; from += batch)
          yield todo.slice(from, from + batch).map(at);
      }
      const saved = async (position: number) => (cached(position) ? at(position) : undefined);
      const { positions, error } = await gather(inOrder(size, saved, requested()));
      expect([positions, error]).toEqual([all, undefined]);
    }),
  );
});
