import { describe, expect, test } from 'vitest';
import { notingFilter } from '../../src/cli/tail/noting-feeder.ts';
import { readFrame, readThesis } from '../../src/tail/socket/frame.ts';

const bytes = (text: string) => Buffer.from(text);
const plain = (data: unknown) => bytes(JSON.stringify({ type: 'thesis', data }));

describe('a thesis frame', () => {
  test('returns its row and the original bytes of its record', () => {
    const text =
      '{"id":"t1","platformCreatedAt":1700000000017,"x":1.50,"y":"\\u00e9 {}","authorHandle":null}';
    const row = readThesis(bytes(`{"type":"thesis","data":${text}}`));
    expect(row).toMatchObject({ id: 't1', at: 1_700_000_000_017, record: JSON.parse(text) });
    expect(Buffer.from(row?.raw ?? []).toString()).toBe(text);
  });

  test('says who wrote it without parsing its record again, which would halve the throughput', () => {
    const row = readThesis(plain({ id: 't1', authorId: 'u1', authorHandle: 'mira' }));
    if (!row) throw new Error('the frame has no row');
    Object.defineProperty(row, 'record', {
      get() {
        throw new Error('the record was parsed');
      },
    });
    const seen: unknown[] = [];
    const filter = notingFilter(() => true, { saw: (post) => seen.push(post) });
    expect(filter(row)).toBe(true);
    expect(seen).toEqual([{ authorId: 'u1', authorHandle: 'mira' }]);
  });

  test.each([
    ['has members in another order', '{"data":{"id":"t1"},"type":"thesis"}'],
    ['has spaces between its members', '{ "type": "thesis", "data": { "id": "t1" } }'],
    ['has a space after its record', '{"type":"thesis","data":{"id":"t1"} }'],
    ['has an additional member', '{"type":"thesis","data":{"id":"t1"},"sequence":{"n":1}}'],
    ['has its data twice', '{"type":"thesis","data":{"id":"t0"},"data":{"id":"t1"}}'],
  ])('is read by the tolerant reader if it %s', (_, text) => {
    expect(readThesis(bytes(text))).toBeNull();
    expect(readFrame(bytes(text))).toMatchObject({ kind: 'row', row: { id: 't1', raw: null } });
  });

  test.each([{}, { id: null }, { id: '' }, { id: {} }])(
    'is reported if it has no id: %j',
    (data) => {
      expect(readThesis(plain(data))).toBeNull();
      expect(readFrame(plain(data))).toEqual({ kind: 'nameless', record: data });
    },
  );

  test.each([
    ['in an envelope', '{"data":{"type":"thesis","data":{"id":"t1"}}}'],
    ['in an envelope of its own', '{"type":"thesis","data":{"data":{"id":"t1"}}}'],
    ['without a type', '{"data":{"id":"t1","thesis":"words"}}'],
    ['with a type that is not a text', '{"type":1,"data":{"id":"t1","thesis":"words"}}'],
    ['without an envelope', '{"id":"t1","thesis":"words"}'],
    ['in the frame itself', '{"type":"thesis","id":"t1","thesis":"words"}'],
    ['with a number as its id', '{"type":"thesis","data":{"id":1}}'],
  ])('is recognized %s', (_, text) => {
    const id = text.includes('"id":1') ? '1' : 't1';
    expect(readFrame(bytes(text))).toMatchObject({ kind: 'row', row: { id } });
  });

  test.each([
    [1_700_000_000_000, 1_700_000_000_000],
    ['1700000000000', 1_700_000_000_000],
    ['2023-11-14T22:13:20Z', 1_700_000_000_000],
    ['yesterday', null],
    [null, null],
    [{}, null],
  ])('with the post time %j is at %j', (sent, at) => {
    expect(readThesis(plain({ id: 't1', platformCreatedAt: sent }))).toMatchObject({ at });
  });
});

describe('any other frame', () => {
  test('is read from a part of a larger buffer', () => {
    const text = '{"type":"thesis","data":{"id":"t1"}}';
    const piece = bytes(`}}}${text}}}}`).subarray(3, 3 + text.length);
    expect(Buffer.from(readThesis(piece)?.raw ?? []).toString()).toBe('{"id":"t1"}');
    expect(readFrame(piece)).toMatchObject({ kind: 'row', row: { id: 't1' } });
  });

  test.each([
    ['ready', '{"type":"ready","connectionId":"c"}'],
    ['ready', '{"connectionId":"c"}'],
    ['known', '{"type":"replaced","previous":{"type":"all"}}'],
    ['known', '{"type":"pong"}'],
    ['known', '{"type":"subscription","subscription":["a"]}'],
    ['known', '{"subscription":{"type":"all"}}'],
    ['known', '{"data":{"type":"subscription","subscription":{"type":"all"}}}'],
    ['unreadable', '{"type":"subscribed"}'],
    ['unreadable', '{"type":"xhesis","data":{"id":"t1"}}'],
    ['unreadable', '{"type":"thesis","data":null}'],
    ['unreadable', 'null'],
    ['unreadable', '[{"type":"thesis","data":{"id":"t1"}}]'],
  ])('is %s: %s', (kind, text) => {
    expect(readFrame(bytes(text))).toMatchObject({ kind });
  });

  test.each([
    ['{"type":"error","error":"no"}', 'no'],
    ['{"type":"error","error":{"code":"X","message":"no"}}', 'X: no'],
    ['{"type":"error","message":"no"}', 'no'],
    ['{"error":{"message":"no"}}', 'no'],
    ['{"type":"error"}', '{"type":"error"}'],
  ])('is read as an error with its text: %s', (text, said) => {
    expect(readFrame(bytes(text))).toEqual({ kind: 'error', text: said });
  });
});
