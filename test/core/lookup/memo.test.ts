import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunAnswers } from '../../../src/contract/answer-ports.ts';
import { createMemo } from '../../../src/core/lookup/memo.ts';
import { openRunAnswers } from '../../../src/state/run-answers.ts';
import { runs } from '../../state/room.ts';
import { heldBytes } from '../heap.ts';

type Answer = { readonly of: string };

/** Requests each key through a memo, and counts the requests to the service. */
function counted(place: RunAnswers, size: number) {
  const asked: string[] = [];
  const read = (stored: unknown): Answer | undefined =>
    typeof stored === 'string' ? { of: stored } : undefined;
  const remember = createMemo<Answer>({ size, disk: { place, write: ({ of }) => of, read } });
  const request = (key: string) =>
    remember(key, async () => {
      asked.push(key);
      return { of: key.padEnd(1_000) };
    });
  return { asked, request };
}

test('a memo requests nothing twice, in whatever order keys repeat', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(60), { maxLength: 300 }),
      fc.integer({ min: 1, max: 7 }),
      async (keys, size) => {
        const place = openRunAnswers();
        const { asked, request } = counted(place, size);
        for (const key of keys) expect(await request(`k${key}`)).toEqual({ of: `k${key}`.padEnd(1_000) });
        expect(asked).toHaveLength(new Set(keys).size);
        await place.close();
      },
    ),
    runs(30),
  );
});

test('a memo requests nothing twice if keys are concurrent', async () => {
  const place = openRunAnswers();
  const { asked, request } = counted(place, 3);
  for (let round = 0; round < 20; round++) {
    const keys = Array.from({ length: 16 }, (_, at) => `k${(at * 7 + round) % 23}`);
    await Promise.all([...keys, ...keys].map(request));
  }
  expect(asked).toHaveLength(23);
  await place.close();
});

test('a memo keeps answers in memory if the disk is full', async () => {
  const full: RunAnswers = { get: () => undefined, put: () => false, close: async () => {} };
  const { asked, request } = counted(full, 2);
  for (let round = 0; round < 3; round++) for (let at = 0; at < 20; at++) await request(`k${at}`);
  expect(asked).toHaveLength(20);
});

test('the memory of a memo does not grow with the number of answers', async () => {
  const place = openRunAnswers();
  const { request } = counted(place, 100);
  for (let at = 0; at < 1_000; at++) await request(`k${at}`);
  const before = heldBytes();
  for (let at = 1_000; at < 6_000; at++) await request(`k${at}`);
  expect((heldBytes() - before) / 5_000).toBeLessThan(200);
  expect(await request('k7')).toEqual({ of: 'k7'.padEnd(1_000) });
  await place.close();
});
