import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RowStates } from '../../../src/base/row-states.ts';
import type { NumbersClaim, SavedNumbers } from '../../../src/core/pnl/cached-numbers.ts';
import { Claims } from '../../../src/core/pnl/claims.ts';
import { virtualClock } from '../virtual-clock.ts';
import { handlesOf, subjectsUpTo } from './subjects.ts';

/**
 * Simulates other machines that request numbers; `until` is the number of checks after which a row has its
 * answer.
 */
function elsewhere(until: (row: number) => number) {
  const looks = new Map<number, number>();
  const open = new Set<number>();
  const saved: Pick<SavedNumbers, 'claim'> = {
    async claim(handle): Promise<NumbersClaim> {
      const row = Number(handle.slice(1));
      const look = (looks.get(row) ?? 0) + 1;
      looks.set(row, look);
      if (until(row) === 0) {
        open.add(row);
        return { by: 'us', end: async () => void open.delete(row) };
      }
      if (look <= until(row)) return { by: 'other' };
      return { by: 'cache', record: { subject: handle, found: true } };
    },
  };
  return { saved, open };
}

function claimsFor(size: number, until: (row: number) => number) {
  const [states, clock] = [new RowStates(size), virtualClock()];
  const { saved, open } = elsewhere(until);
  const claims = new Claims(states, handlesOf(subjectsUpTo(size)), saved, clock);
  /** Takes the next rows, and answers those that it may request. */
  const next = async (most: number) => {
    const { rows, results, end } = await claims.next(most);
    for (const row of [...rows, ...results.map((result) => result.row)]) states.answer(row, 0);
    await end();
    return { ours: rows, theirs: results.map(({ row }) => row) };
  };
  return { claims, clock, open, next };
}

test('yields every row once, requested here or answered elsewhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 300 }),
      fc.integer({ min: 1, max: 100 }),
      async (until, most) => {
        const { claims, open, next } = claimsFor(until.length, (row) => until[row] ?? 0);
        const [ours, theirs]: [number[], number[]] = [[], []];
        while (claims.left > 0) {
          const taken = await next(most);
          ours.push(...taken.ours);
          theirs.push(...taken.theirs);
        }
        const rows = [...until.keys()];
        expect(ours).toEqual(rows.filter((row) => until[row] === 0));
        expect(theirs.toSorted((one, other) => one - other)).toEqual(
          rows.filter((row) => until[row] !== 0),
        );
        expect(open.size).toBe(0);
      },
    ),
  );
});

test('lets the rows of another machine wait for one turn, not until all others are requested', async () => {
  const { next } = claimsFor(1_000, (row) => (row < 10 ? 1 : 0));
  const turns = [await next(100), await next(100), await next(100)];
  expect(turns.map(({ ours, theirs }) => [ours[0], ours.length, theirs.length])).toEqual([
    [10, 90, 0],
    [100, 100, 0],
    [200, 90, 10],
  ]);
});

test('requests a row itself if the other machine takes longer than any call', async () => {
  const { clock, next } = claimsFor(1, () => Number.POSITIVE_INFINITY);
  let ours: readonly number[] = [];
  while (ours.length === 0) ({ ours } = await next(1));
  expect(ours).toEqual([0]);
  expect(clock.mono()).toBeGreaterThan(120_000);
});

test('does not ask without a pause while other machines request all rows', async () => {
  const { clock, next } = claimsFor(300, () => Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < 11; turn++) await next(100);
  expect(clock.mono()).toBeGreaterThanOrEqual(1_000);
});
