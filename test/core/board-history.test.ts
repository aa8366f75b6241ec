import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countTimes, distinctBoards, timesToRead } from '../../src/core/board-history.ts';

const DAY = 86_400_000;

const START = 1_700_000_000_000;

/** How a service may write the time of a snapshot; only the last one does not say when it was. */
const writings: readonly ((time: number) => number | string)[] = [
  (time) => time,
  (time) => new Date(time).toISOString(),
  (time) => time / 1000,
];

it('requests each snapshot of a stretch once, whatever the distances of snapshots and times', () => {
  const times = fc.integer({ min: START, max: START + 40 * DAY });
  const snapshots = fc.uniqueArray(times, { maxLength: 40 });
  const every = fc.integer({ min: DAY / 24, max: 9 * DAY });
  const known = fc.func(fc.boolean());
  const writing = fc.constantFrom(...writings);
  fc.assert(
    fc.property(snapshots, every, known, writing, (captured, step, isKnown, write) => {
      const stretch = { since: START + 3 * DAY, until: START + 30 * DAY, every: step };
      const latest = (at: number) =>
        captured.filter((time) => time <= at).reduce((most, time) => Math.max(most, time), -1);
      const boards = new Map<number, { capturedAt: number | string | null; entries: object[] }>();
      const boardAt = (at: number) => {
        const capturedAt = latest(at) < 0 ? null : write(latest(at));
        return { capturedAt, entries: capturedAt === null ? [] : [{}] };
      };
      // What an interrupted run has read is a part of what this one reads.
      const all = [...timesToRead(stretch, new Map())];
      expect(all.length).toBe(countTimes(stretch));
      for (const { position, at } of all) if (isKnown(position)) boards.set(position, boardAt(at));
      const before = boards.size;
      const asked: (number | string | null)[] = [];
      for (const { position, at } of timesToRead(stretch, boards)) {
        boards.set(position, boardAt(at));
        asked.push(boardAt(at).capturedAt);
      }
      const expected = [...new Set(all.map(({ at }) => latest(at)))].filter((time) => time >= 0);
      expect(distinctBoards(boards).map(({ capturedAt }) => capturedAt)).toEqual(
        expected.toReversed().map(write),
      );
      const isTimed = write !== writings.at(-1);
      if (before === 0 && isTimed) expect(new Set(asked).size).toBe(asked.length);
    }),
  );
});
