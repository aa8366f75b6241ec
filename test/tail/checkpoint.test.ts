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

  test('of an empty feed starts at the beginning of the feed', () => {
    const empty = { feed: 'f', watermark: { top: null, base: null }, floor: null, known: [] };
    expect(readCheckpoint(writeCheckpoint(empty), 'f')).toMatchObject({ floor: Number.NEGATIVE_INFINITY });
  });

  test('is rejected when truncated at any byte', () => {
    const text = writeCheckpoint(checkpoint).trimEnd();
    for (let end = 0; end < text.length; end++) {
      expect(() => readCheckpoint(text.slice(0, end), 'thesis')).toThrow(/checkpoint/);
    }
  });

  test('of another feed is rejected with the name of that feed', () => {
    expect(() => readCheckpoint(writeCheckpoint(checkpoint), 'thesis 0xabc')).toThrow(
      /another feed \(thesis,/,
    );
  });

  test.each([
    ['an empty object', '{}'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"trdr-tail"'],
    ['of a newer version', writeCheckpoint(checkpoint).replace('"version":1', '"version":2')],
    ['of another format', writeCheckpoint(checkpoint).replace('trdr-tail', 'other')],
    ['without a watermark', writeCheckpoint(checkpoint).replace('watermark', 'x')],
    ['with an invalid time', writeCheckpoint(checkpoint).replace('880', '"soon"')],
    ['without a top', writeCheckpoint(checkpoint).replace('"top"', '"x"')],
    ['with an invalid top', writeCheckpoint(checkpoint).replace('{"id":"t9","at":900}', '"t9"')],
    ['with an invalid top id', writeCheckpoint(checkpoint).replace('"t9"', '9')],
    ['without a floor', writeCheckpoint(checkpoint).replace('"floor"', '"x"')],
    ['with an invalid floor', writeCheckpoint(checkpoint).replace('500', '"low"')],
    ['without ids', writeCheckpoint(checkpoint).replace('"known"', '"x"')],
    ['with an object for the ids', writeCheckpoint({ ...checkpoint, known: [] }).replace('[]', '{}')],
    ['with an invalid id', writeCheckpoint(checkpoint).replace('"t8"', '8')],
    ['with an id without a time', writeCheckpoint(checkpoint).replace(',800', '')],
    ['with an id and an invalid time', writeCheckpoint(checkpoint).replace('800', '"x"')],
    ['with an id and two times', writeCheckpoint(checkpoint).replace('800', '800,1')],
  ])('is rejected: %s', (_, text) => {
    expect(() => readCheckpoint(text, 'thesis')).toThrow(Failure);
    expect(() => readCheckpoint(text, 'thesis')).toThrow(/^invalid checkpoint: /);
  });

  test('is rejected with a reason', () => {
    const text = writeCheckpoint(checkpoint);
    expect(() => readCheckpoint('{}', 'thesis')).toThrow('it was not written by a tail');
    expect(() => readCheckpoint(text.replace('"version":1', '"version":2'), 'thesis')).toThrow(
      'different version',
    );
  });

  test('is read as it was written if its top has no time', () => {
    const odd = { feed: 'f', watermark: { top: { id: 'a', at: null }, base: null }, floor: null, known: [] };
    expect(readCheckpoint(writeCheckpoint(odd), 'f').watermark).toEqual(odd.watermark);
  });
});

describe('a checkpoint of a running tail', () => {
  const flowOf = (watermark: Watermark | undefined, marginMs: number, fill: (seen: Seen) => void) => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    fill(seen);
    const sink = { write: async () => true, flush: async () => true };
    const flow = createFlow({
      ...{
        timing,
        seen,
        writer: createTailWriter(
          sink,
          () => {},
          () => 0,
        ),
        start: { kind: 'now' },
      },
      ...{ scope: () => true, filter: () => true, carries: () => true },
      ...{ count: 1, saves: true, byFile: false },
    });
    return { ...flow, watermark, margin: { ms: marginMs, learn() {} } };
  };
  const resume = (flow: Parameters<typeof snapshotOf>[1]) => readCheckpoint(snapshotOf('f', flow) ?? '', 'f');

  test('is not written before the first page', () => {
    expect(
      snapshotOf(
        'f',
        flowOf(undefined, 10, (seen) => seen.add('a', 5)),
      ),
    ).toBeUndefined();
  });

  test('contains exactly the ids within the margin below the watermark', () => {
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

  test('starts at the floor of the remembered ids if that is above the margin', () => {
    const flow = flowOf({ top: { id: 'c', at: 90_000 }, base: 90_000 }, 60_000, (seen) => {
      seen.add('b', 50_000);
      seen.add('c', 90_000);
      seen.forget(70_000);
      seen.forget(80_000);
    });
    expect(resume(flow)).toMatchObject({ floor: 80_000, known: [['c', 90_000]] });
  });

  test('of a feed without times starts at the beginning of the feed', () => {
    const flow = flowOf({ top: { id: 'x', at: null }, base: null }, 60_000, (seen) => seen.add('x', null));
    expect(resume(flow)).toMatchObject({ floor: Number.NEGATIVE_INFINITY, known: [['x', null]] });
    expect(JSON.parse(snapshotOf('f', flow) ?? '')).toMatchObject({ floor: null });
  });

  test('of a feed without times keeps its floor', () => {
    const flow = flowOf({ top: { id: 'x', at: null }, base: null }, 60_000, (seen) => seen.forget(70_000));
    expect(resume(flow)).toMatchObject({ floor: 70_000 });
  });
});
