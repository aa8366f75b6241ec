import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readOdd, readThesis } from '../../src/tail/socket/frame.ts';

const SEED = process.env['SEED'] === undefined ? {} : { seed: Number(process.env['SEED']) };
const bytes = (text: string) => Buffer.from(text);
const plain = (data: unknown) => bytes(JSON.stringify({ type: 'thesis', data }));

describe('a thesis frame', () => {
  test('gives its row, and the bytes of its record as they came', () => {
    const text = '{"id":"t1","platformCreatedAt":17,"x":1.50,"y":"\\u00e9 {}","authorHandle":null}';
    const row = readThesis(bytes(`{"type":"thesis","data":${text}}`));
    expect(row).toMatchObject({ id: 't1', at: 17, record: JSON.parse(text) });
    expect(Buffer.from(row?.raw ?? []).toString()).toBe(text);
  });

  test('is read the same whatever its record holds', () => {
    const record = fc.record(
      {
        id: fc.string({ minLength: 1, unit: 'binary' }),
        platformCreatedAt: fc.option(fc.integer()),
        thesis: fc.string({ unit: 'binary' }),
        segments: fc.jsonValue(),
        unknown: fc.jsonValue(),
      },
      { requiredKeys: ['id'] },
    );
    fc.assert(
      fc.property(record, (data) => {
        const text = JSON.stringify(data);
        const row = readThesis(bytes(`{"type":"thesis","data":${text}}`));
        expect(row?.record).toEqual(JSON.parse(text));
        expect(row?.id).toBe(JSON.parse(text).id);
        expect(Buffer.from(row?.raw ?? []).toString()).toBe(Buffer.from(text).toString());
      }),
      SEED,
    );
  });

  test('whose record came over several lines is passed on parsed, not raw', () => {
    const row = readThesis(bytes('{"type":"thesis","data":{"id":"t1",\n"platformCreatedAt":1}}'));
    expect(row).toMatchObject({ id: 't1', raw: null });
    const carriage = readThesis(bytes('{"type":"thesis","data":{"id":"t1",\r"platformCreatedAt":1}}'));
    expect(carriage).toMatchObject({ id: 't1', raw: null });
  });

  test.each([
    ['has members in another order', '{"data":{"id":"t1"},"type":"thesis"}'],
    ['has room between its members', '{ "type": "thesis", "data": { "id": "t1" } }'],
    ['has room behind its record', '{"type":"thesis","data":{"id":"t1"} }'],
    ['has a member more', '{"type":"thesis","data":{"id":"t1"},"sequence":{"n":1}}'],
    ['has its data twice', '{"type":"thesis","data":{"id":"t0"},"data":{"id":"t1"}}'],
  ])('that %s is still read, at leisure', (_, text) => {
    expect(readThesis(bytes(text))).toBeNull();
    expect(readOdd(bytes(text))).toMatchObject({ kind: 'row', row: { id: 't1', raw: null } });
  });

  test('with fields of an unknown form still gives its post', () => {
    const row = readThesis(plain({ id: 't1', platformCreatedAt: 'yesterday', likeCount: 'many' }));
    expect(row).toMatchObject({ id: 't1', at: null });
  });

  test.each([{}, { id: 7 }, { id: '' }, [], 'x', null])('without an id is none: %j', (data) => {
    expect(readThesis(plain(data))).toBeNull();
    expect(readOdd(plain(data))).toMatchObject({ kind: 'unreadable' });
  });
});

describe('any other frame', () => {
  test('is no thesis, however near it comes to one', () => {
    const text = '{"type":"thesis","data":{"id":"t1"}}';
    for (let i = 0; i < text.length; i++) {
      for (const other of ['x', ']', ' ']) {
        const odd = bytes(text.slice(0, i) + other + text.slice(i + 1));
        const valid = readOdd(odd).kind !== 'unreadable';
        if (!valid) expect(readThesis(odd)).toBeNull();
      }
    }
    for (const odd of [
      '{"type":"xhesis","data":{"id":"t1"}}',
      '{"type":"thesis","dada":{"id":"t1"}}',
      'null',
      '[]',
    ]) {
      expect(readThesis(bytes(odd))).toBeNull();
      expect(readOdd(bytes(odd))).toMatchObject({ kind: 'unreadable' });
    }
  });

  test('is read from within a larger piece of memory', () => {
    const text = '{"type":"thesis","data":{"id":"t1"}}';
    const piece = bytes(`}}}${text}}}}`).subarray(3, 3 + text.length);
    expect(Buffer.from(readThesis(piece)?.raw ?? []).toString()).toBe('{"id":"t1"}');
    expect(readOdd(piece)).toMatchObject({ kind: 'row', row: { id: 't1' } });
  });

  test.each([
    { type: 'ready', connectionId: 'c' },
    { type: 'subscription', subscription: null },
    { type: 'subscription', subscription: { type: 'tokens', tokens: ['a'] } },
    { type: 'replaced', previous: { type: 'all' } },
    { type: 'error', error: 'no' },
  ])('of the service is told: $type', (frame) => {
    expect(readOdd(bytes(JSON.stringify(frame)))).toEqual({ kind: 'control', frame });
  });

  test('of any bytes at all is refused, and never thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        expect(readThesis(raw)).toBeNull();
        expect(readOdd(raw).kind).toBe('unreadable');
      }),
      SEED,
    );
  });

  test('cut at any byte is refused', () => {
    const whole = plain({ id: 't1', platformCreatedAt: 1, thesis: 'a "b" {c}}' });
    for (let end = 0; end < whole.length; end++) {
      expect(readThesis(whole.subarray(0, end))).toBeNull();
      expect(readOdd(whole.subarray(0, end)).kind).toBe('unreadable');
    }
  });
});
