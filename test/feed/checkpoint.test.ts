import { describe, expect, test } from 'vitest';
import { readCheckpoint, writeCheckpoint } from '../../src/feed/checkpoint.ts';

const checkpoint = {
  feed: 'thesis',
  watermark: { top: { id: 't9', at: 900 }, base: 880 },
  floor: 500,
  known: [
    ['t8', 800],
    ['t0', null],
  ],
} as const;

describe('a checkpoint', () => {
  test('is read as it was written', () => {
    const { feed, ...rest } = checkpoint;
    expect(readCheckpoint(writeCheckpoint(checkpoint), feed)).toEqual({ kind: 'checkpoint', ...rest });
  });

  test('of an empty feed reaches back to its beginning', () => {
    const empty = { feed: 'f', watermark: { top: null, base: null }, floor: null, known: [] };
    expect(readCheckpoint(writeCheckpoint(empty), 'f')).toMatchObject({ floor: Number.NEGATIVE_INFINITY });
  });

  test('is refused when it was torn at any byte', () => {
    const text = writeCheckpoint(checkpoint).trimEnd();
    for (let end = 0; end < text.length; end++) {
      expect(() => readCheckpoint(text.slice(0, end), 'thesis')).toThrow(/checkpoint/);
    }
  });

  test('of another feed is refused, and named', () => {
    expect(() => readCheckpoint(writeCheckpoint(checkpoint), 'thesis 0xabc')).toThrow(
      /another feed \(thesis,/,
    );
  });

  test.each([
    ['no checkpoint', '{}'],
    ['an array', '[]'],
    ['of a newer form', writeCheckpoint(checkpoint).replace('"version":1', '"version":2')],
    ['without its watermark', writeCheckpoint(checkpoint).replace('watermark', 'x')],
    ['with ids that are none', writeCheckpoint(checkpoint).replace('"t8"', '8')],
    ['with a time that is none', writeCheckpoint(checkpoint).replace('880', '"soon"')],
  ])('that is %s is refused', (_, text) => {
    expect(() => readCheckpoint(text, 'thesis')).toThrow(/checkpoint/);
  });
});
