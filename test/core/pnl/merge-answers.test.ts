import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { Subject } from '../../../src/core/lookup/subject.ts';
import { inOrder } from '../../../src/core/pnl/merge-answers.ts';
import type { NumbersResult } from '../../../src/core/pnl/request-batch.ts';
import { subjectsUpTo } from './subjects.ts';

const at = (subject: Subject): NumbersResult => ({
  subject,
  record: { subject: subject.text, found: true },
});

async function gather(results: AsyncIterable<NumbersResult>) {
  const subjects: Subject[] = [];
  try {
    for await (const { subject } of results) subjects.push(subject);
    return { subjects, error: undefined };
  } catch (error) {
    return { subjects, error };
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
      const all = subjectsUpTo(size);
      const isCached = new Set(all.filter((_, place) => cached(place)));
      const place = (subject: Subject) => ((all.indexOf(subject) * 7919 + seed) % 101) + 101;
      const todo = all.filter((subject) => !isCached.has(subject));
      todo.sort((one, other) => place(one) - place(other));
      async function* requested() {
        for (let from = 0; from < todo.length; from += batch)
          yield todo.slice(from, from + batch).map(at);
      }
      const saved = async (subject: Subject) => (isCached.has(subject) ? at(subject) : undefined);
      const { subjects, error } = await gather(inOrder(all, saved, requested()));
      expect([subjects, error]).toEqual([all, undefined]);
    }),
  );
});

test('yields what arrived, and what is saved, before the failure that ended the requests', async () => {
  const all = subjectsUpTo(6);
  const ended = new Failure('quota', 'nothing is left', { code: 'QUOTA_EXCEEDED' });
  async function* requested() {
    yield [all[3], all[0]].flatMap((subject) => (subject ? [at(subject)] : []));
    throw ended;
  }
  const isSaved = (subject: Subject) => subject === all[5];
  const saved = async (subject: Subject) => (isSaved(subject) ? at(subject) : undefined);
  const { subjects, error } = await gather(inOrder(all, saved, requested()));
  expect(subjects).toEqual([all[0], all[3], all[5]]);
  expect(error).toBe(ended);
});

test('asks for what is saved before it waits for a request, and ends the requests when the reader leaves', async () => {
  const all = subjectsUpTo(3);
  const story: string[] = [];
  async function* requested() {
    try {
      story.push('requested');
      yield all.slice(1).map(at);
    } finally {
      story.push('ended');
    }
  }
  const saved = async (subject: Subject) => (subject === all[0] ? at(subject) : undefined);
  const results = inOrder(all, saved, requested());
  expect((await results.next()).value?.subject).toBe(all[0]);
  expect(story).toEqual([]);
  expect((await results.next()).value?.subject).toBe(all[1]);
  await results.return();
  expect(story).toEqual(['requested', 'ended']);
});
