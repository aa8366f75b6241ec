import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { Overflow } from '../../../src/contract/answer-ports.ts';
import { readSavedAnswer, writeAnswer } from '../../../src/core/lookup/answer-text.ts';
import { createMemo } from '../../../src/core/lookup/memo.ts';
import { openOverflow } from '../../../src/state/overflow.ts';
import { runs } from '../../state/room.ts';
import { heldBytes } from '../heap.ts';

type Text = { readonly text: string };
const codec = (place: Overflow) => ({ place, write: writeAnswer, read: readSavedAnswer<Text> });

/** Requests each key through a memo, and counts the requests to the service. */
function counted(place: Overflow, size: number) {
  const asked: string[] = [];
  const remember = createMemo<Text>({ size, overflow: codec(place) });
  const request = (key: string) =>
    remember(key, async () => {
      asked.push(key);
      return { text: `answer ${key}` };
    });
  return { asked, request };
}

describe('a memo with an overflow', () => {
  test('requests nothing twice, in whatever order keys repeat', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(60), { maxLength: 300 }),
        fc.integer({ min: 1, max: 7 }),
        async (keys, size) => {
          const place = openOverflow();
          const { asked, request } = counted(place, size);
          for (const key of keys) expect(await request(`k${key}`)).toEqual({ text: `answer k${key}` });
          expect(asked).toHaveLength(new Set(keys).size);
          await place.close();
        },
      ),
      runs(60),
    );
  });

  test('requests nothing twice if keys are concurrent', async () => {
    const place = openOverflow();
    const { asked, request } = counted(place, 3);
    for (let round = 0; round < 20; round++) {
      const keys = Array.from({ length: 16 }, (_, at) => `k${(at * 7 + round) % 23}`);
      await Promise.all([...keys, ...keys].map(request));
    }
    expect(asked).toHaveLength(23);
    await place.close();
  });

  test('keeps answers in memory if the disk is full', async () => {
    const full: Overflow = {
      mayHold: () => false,
      put: async () => Promise.reject(new Error('the disk is full')),
      get: async () => undefined,
      close: async () => {},
    };
    const { asked, request } = counted(full, 2);
    for (let round = 0; round < 3; round++) for (let at = 0; at < 20; at++) await request(`k${at}`);
    expect(asked).toHaveLength(20);
  });

  test('restores a failure with its kind and fields, and numbers with their digits', () => {
    const failure = new Failure('network', 'broke', { code: 'BROKEN', retryable: true, hint: 'again' });
    const back = readSavedAnswer<{ readonly found: null; readonly failure: Failure }>(
      writeAnswer({ found: null, failure }),
    );
    expect(back.failure).toBeInstanceOf(Failure);
    expect(back).toEqual({ found: null, failure });
    expect(writeAnswer(readSavedAnswer('{"n":12345678901234567890}'))).toBe('{"n":12345678901234567890}');
  });
});

describe('an overflow', () => {
  test('returns what was saved under each key, with records of any length and equal hashes', async () => {
    const key = fc.string({ unit: 'binary', maxLength: 20 });
    const text = fc.string({ unit: 'binary', maxLength: 6_000, size: 'max' });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(key, text), { selector: ([name]) => name, maxLength: 40 }),
        async (given) => {
          const entries = given.filter(([name, value]) => !/\p{Cs}/u.test(name + value));
          const place = openOverflow();
          await place.put(entries);
          for (const [name, value] of entries) expect(await place.get(name)).toBe(value);
          expect(await place.get('never put')).toBeUndefined();
          await place.close();
        },
      ),
      runs(40),
    );
  });

  test('opens no file once it is closed', async () => {
    const place = openOverflow();
    await place.close();
    await expect(place.put([['key', 'text']])).rejects.toThrow('closed');
  });

  test('needs less than 64 bytes of memory for each answer', async () => {
    const place = openOverflow();
    const held = () => heldBytes() + process.memoryUsage().arrayBuffers;
    const before = held();
    const count = 200_000;
    for (let at = 0; at < count; at += 10_000) {
      await place.put(
        Array.from({ length: 10_000 }, (_, each) => [`handle:${at + each}`, `{"found":${at + each}}`]),
      );
    }
    expect((held() - before) / count).toBeLessThan(64);
    expect(await place.get('handle:123456')).toBe('{"found":123456}');
    expect(await place.get('handle:200000')).toBeUndefined();
    await place.close();
  });
});
