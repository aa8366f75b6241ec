import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Subject } from '../../../src/core/lookup/subject.ts';
import type { NumbersClaim, SavedNumbers } from '../../../src/core/pnl/cached-numbers.ts';
import { SubjectsLeft } from '../../../src/core/pnl/next-batch.ts';
import { virtualClock } from '../virtual-clock.ts';
import { handleSubject, subjectsUpTo } from './subjects.ts';

const handleOf = ({ value }: Subject) => value;

/**
 * Simulates other machines that request numbers; `until` is the number of checks after which a handle has its
 * answer.
 */
function elsewhere(until: (handle: string) => number) {
  const looks = new Map<string, number>();
  const open = new Set<string>();
  const saved: Pick<SavedNumbers, 'claim'> = {
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

test('yields every subject once, requested here or answered elsewhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 300 }),
      fc.integer({ min: 1, max: 100 }),
      async (until, size) => {
        const checks = (handle: string) => until[Number(handle.slice(1))] ?? 0;
        const { saved, open } = elsewhere(checks);
        const todo = subjectsUpTo(until.length);
        const subjectsLeft = new SubjectsLeft(todo, handleOf, saved, virtualClock());
        const ours: Subject[] = [];
        const theirs = new Set<Subject>();
        while (subjectsLeft.left.length > 0) {
          const next = await subjectsLeft.next(size);
          ours.push(...next.subjects);
          for (const { subject } of next.here) {
            expect(theirs.has(subject)).toBe(false);
            theirs.add(subject);
          }
          await next.end();
          subjectsLeft.done(next.subjects);
        }
        expect(ours).toEqual(todo.filter(({ value }) => checks(value) === 0));
        expect(theirs).toEqual(new Set(todo.filter(({ value }) => checks(value) !== 0)));
        expect(open.size).toBe(0);
      },
    ),
  );
});

test('requests a handle itself if the other machine takes longer than any call', async () => {
  const clock = virtualClock();
  const { saved } = elsewhere(() => Number.POSITIVE_INFINITY);
  const [subject = handleSubject('t0')] = subjectsUpTo(1);
  const subjectsLeft = new SubjectsLeft([subject], handleOf, saved, clock);
  let subjects: readonly Subject[] = [];
  while (subjects.length === 0) ({ subjects } = await subjectsLeft.next(1));
  expect(subjects).toEqual([subject]);
  expect(clock.mono()).toBeGreaterThan(120_000);
});
