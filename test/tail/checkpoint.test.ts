import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { createFlow } from '../../src/tail/flow.ts';
import { readCheckpoint, snapshotOf, writeCheckpoint } from '../../src/tail/output/checkpoint.ts';
import { createTailWriter } from '../../src/tail/output/writer.ts';
import { createSeen, type Seen } from '../../src/tail/seen/seen.ts';
import type { Watermark } from '../../src/tail/seen/watermark.ts';
import { timing } from '../../src/tail/timing.ts';

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
    ['of another form', writeCheckpoint(checkpoint).replace('trdr-tail', 'other')],
    ['with a floor that is none', writeCheckpoint(checkpoint).replace('500', '"low"')],
    ['without a floor', writeCheckpoint(checkpoint).replace('"floor"', '"x"')],
    ['without its ids', writeCheckpoint(checkpoint).replace('"known"', '"x"')],
    ['with one id for a list', writeCheckpoint({ ...checkpoint, known: [] }).replace('[]', '{}')],
    ['with a top that is none', writeCheckpoint(checkpoint).replace('{"id":"t9","at":900}', '"t9"')],
    ['without a top', writeCheckpoint(checkpoint).replace('"top"', '"x"')],
    ['with more than an id and its time', writeCheckpoint(checkpoint).replace('800', '800,1')],
    ['with a top without id', writeCheckpoint(checkpoint).replace('"t9"', '9')],
    ['with an id whose time is none', writeCheckpoint(checkpoint).replace('800', '"x"')],
    ['with an id without time', writeCheckpoint(checkpoint).replace(',800', '')],
    ['with a text for an id', writeCheckpoint(checkpoint).replace('["t8",800]', '"t8"')],
    [
      'with an object for an id',
      writeCheckpoint(checkpoint).replace('["t8",800]', '{"0":"t8","1":8,"length":2}'),
    ],
    ['null', 'null'],
    ['a text', '"trdr-tail"'],
  ])('that is %s is refused', (_, text) => {
    expect(() => readCheckpoint(text, 'thesis')).toThrow(Failure);
    expect(() => readCheckpoint(text, 'thesis')).toThrow(/^The checkpoint /);
  });

  test('tells what is wrong with it', () => {
    const text = writeCheckpoint(checkpoint);
    expect(() => readCheckpoint('{}', 'thesis')).toThrow('is not a checkpoint of a tail');
    expect(() => readCheckpoint(text.replace('"version":1', '"version":2'), 'thesis')).toThrow(
      'another version',
    );
  });

  test('with a top that has no time is read as it was written', () => {
    const odd = { feed: 'f', watermark: { top: { id: 'a', at: null }, base: null }, floor: null, known: [] };
    expect(readCheckpoint(writeCheckpoint(odd), 'f').watermark).toEqual(odd.watermark);
  });
});

describe('a checkpoint of a tail as it stands', () => {
  const flowOf = (watermark: Watermark | undefined, marginMs: number, fill: (seen: Seen) => void) => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    fill(seen);
    const sink = { write: async () => true, flush: async () => true };
    const flow = createFlow({
      ...{
        timing,
        seen,
        outlet: createTailWriter(
          sink,
          () => {},
          () => 0,
        ),
        start: { kind: 'now' },
      },
      ...{ scope: () => true, sieve: () => true, carries: () => true },
      ...{ count: 1, heals: true, byFile: false },
    });
    return { ...flow, watermark, margin: { ms: marginMs, learn() {} } };
  };
  const resume = (flow: Parameters<typeof snapshotOf>[1]) => readCheckpoint(snapshotOf('f', flow) ?? '', 'f');

  test('is none while nothing is known', () => {
    expect(
      snapshotOf(
        'f',
        flowOf(undefined, 10, (seen) => seen.add('a', 5)),
      ),
    ).toBeUndefined();
  });

  test('holds the ids of the margin behind the watermark, and no more', () => {
    const top = { id: 'c', at: 90_000 };
    const flow = flowOf({ top, base: 80_000 }, 30_000, (seen) => {
      seen.add('a', 49_999);
      seen.add('b', 50_000);
      seen.add('c', 90_000);
      seen.add('x', null);
    });
    const read = resume(flow);
    expect(read).toMatchObject({ kind: 'checkpoint', watermark: { top, base: 80_000 }, floor: 50_000 });
    expect(new Map(read.known)).toEqual(
      new Map([
        ['b', 50_000],
        ['c', 90_000],
        ['x', null],
      ]),
    );
  });

  test('begins at what is still remembered, where that is less than the margin', () => {
    const flow = flowOf({ top: { id: 'c', at: 90_000 }, base: 90_000 }, 60_000, (seen) => {
      seen.add('b', 50_000);
      seen.add('c', 90_000);
      seen.forget(70_000);
      seen.forget(80_000);
    });
    expect(resume(flow)).toMatchObject({ floor: 80_000, known: [['c', 90_000]] });
  });

  test('of a feed without times reaches back to its beginning', () => {
    const flow = flowOf({ top: { id: 'x', at: null }, base: null }, 60_000, (seen) => seen.add('x', null));
    expect(resume(flow)).toMatchObject({ floor: Number.NEGATIVE_INFINITY, known: [['x', null]] });
    expect(JSON.parse(snapshotOf('f', flow) ?? '')).toMatchObject({ floor: null });
  });

  test('still knows the start of a feed without times, where there is one', () => {
    const flow = flowOf({ top: { id: 'x', at: null }, base: null }, 60_000, (seen) => seen.forget(70_000));
    expect(resume(flow)).toMatchObject({ floor: 70_000 });
  });
});
