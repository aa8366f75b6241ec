import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NumbersClaim, SavedNumbers } from '../../../src/core/pnl/cached-numbers.ts';
import { createTurns } from '../../../src/core/pnl/next-batch.ts';
import { virtualClock } from '../virtual-clock.ts';

const nothing: Omit<SavedNumbers, 'claim'> = {
  find: async () => undefined,
  saveOne: async () => {},
  saveMiss: async () => {},
  saveBatch: async () => {},
};

/**
 * Simulates other machines that request numbers; `until` is the number of checks after which a handle has its
 * answer.
 */
function elsewhere(until: (handle: string) => number) {
  const looks = new Map<string, number>();
  const open = new Set<string>();
  const saved: SavedNumbers = {
    ...nothing,
    async claim(handle): Promise<NumbersClaim> {
      const look = (looks.get(handle) ?? 0) + 1;
      looks.set(handle, look);
      if (until(handle) === 0) {
        open.add(handle);
        return { by: 'us', end: async () => void open.delete(handle) };
      }
      if (look <= until(handle)) return { by: 'other' };
      return { by: 'cache', record: { subject: handle, found: true } };
    },
  };
  return { saved, open };
}

test('yields every position once, requested here or answered elsewhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 300 }),
      fc.integer({ min: 1, max: 100 }),
      async (until, size) => {
        const { saved, open } = elsewhere((handle) => until[Number(handle)] ?? 0);
        const todo = until.map((_, at) => at);
        const turns = createTurns(todo, String, saved, virtualClock());
        const ours: number[] = [];
        const theirs: number[] = [];
        while (turns.left().length > 0) {
          const { positions, here, end } = await turns.next(size);
          ours.push(...positions);
          theirs.push(...here.map(({ position }) => position));
          await end();
          turns.done(positions);
        }
        expect(ours).toEqual(todo.filter((at) => until[at] === 0));
        expect(theirs.toSorted((a, b) => a - b)).toEqual(todo.filter((at) => until[at] !== 0));
        expect(open.size).toBe(0);
      },
    ),
  );
});

test('requests a handle itself if the other machine takes longer than any call', async () => {
  const clock = virtualClock();
  const { saved } = elsewhere(() => Number.POSITIVE_INFINITY);
  const turns = createTurns([0], String, saved, clock);
  let positions: readonly number[] = [];
  while (positions.length === 0) ({ positions } = await turns.next(1));
  expect(positions).toEqual([0]);
  expect(clock.mono()).toBeGreaterThan(120_000);
});
