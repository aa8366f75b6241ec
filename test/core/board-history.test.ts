import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countTimes, distinctBoards, timesToRead } from '../../src/core/board-history.ts';

const DAY = 86_400_000;

it('requests each snapshot of a stretch once, whatever the distances of snapshots and times', () => {
  const snapshots = fc.uniqueArray(fc.integer({ min: 0, max: 40 * DAY }), { maxLength: 40 });
  const every = fc.integer({ min: DAY / 24, max: 9 * DAY });
  const known = fc.func(fc.boolean());
  fc.assert(
    fc.property(snapshots, every, known, (captured, step, isKnown) => {
      const stretch = { since: 3 * DAY, until: 30 * DAY, every: step };
      const latest = (at: number) =>
        captured.filter((time) => time <= at).reduce((most, time) => Math.max(most, time), -1);
      const boards = new Map<number, { capturedAt: number | null; entries: object[] }>();
      const boardAt = (at: number) => {
        const capturedAt = latest(at) < 0 ? null : latest(at);
        return { capturedAt, entries: capturedAt === null ? [] : [{}] };
      };
      // What an interrupted run has read is a part of what this one reads.
      const all = [...timesToRead(stretch, new Map())];
      expect(all.length).toBe(countTimes(stretch));
      for (const { position, at } of all) if (isKnown(position)) boards.set(position, boardAt(at));
      const before = boards.size;
      const asked: (number | null)[] = [];
      for (const { position, at } of timesToRead(stretch, boards)) {
        boards.set(position, boardAt(at));
        asked.push(boardAt(at).capturedAt);
      }
      const expected = [...new Set(all.map(({ at }) => latest(at)))].filter((time) => time >= 0);
      expect(distinctBoards(boards).map(({ capturedAt }) => capturedAt)).toEqual(
        expected.toReversed(),
      );
      if (before === 0) expect(new Set(asked).size).toBe(asked.length);
    }),
  );
});
