import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlainLine, jsonLine, lineOf } from '../../src/output/format/ndjson.ts';
import { tailRow } from '../../src/tail/post-row.ts';
import { readFrame, readOtherFrame, readThesis } from '../../src/tail/socket/frame.ts';
import { damaged, holds, jsonOf, jsonText, torn } from './fuzz.ts';

const id = fc.oneof(fc.string({ maxLength: 6 }), fc.constant('t-1'));
const data = fc
  .tuple(
    fc.record({ id, platformCreatedAt: fc.oneof(fc.nat(), fc.constant(null)) }),
    jsonOf('data', 'type'),
  )
  .map(([known, more]) => ({ ...known, more }));
const subscription = fc.oneof(
  fc.constant({ type: 'all' }),
  fc
    .array(fc.string({ maxLength: 3 }), { maxLength: 3 })
    .map((tokens) => ({ type: 'tokens', tokens })),
  fc.constant(null),
);
const frame = fc.oneof(
  { weight: 3, arbitrary: data.map((record) => ({ type: 'thesis', data: record })) },
  { weight: 1, arbitrary: data.map((record) => ({ type: 'thesis', data: record, more: 1 })) },
  { weight: 1, arbitrary: data.map((record) => ({ data: record, type: 'thesis' })) },
  { weight: 1, arbitrary: fc.string().map((connectionId) => ({ type: 'ready', connectionId })) },
  {
    weight: 1,
    arbitrary: subscription.map((given) => ({ type: 'subscription', subscription: given })),
  },
  { weight: 1, arbitrary: subscription.map((previous) => ({ type: 'replaced', previous })) },
  { weight: 1, arbitrary: fc.string().map((error) => ({ type: 'error', error })) },
  { weight: 1, arbitrary: jsonOf('type', 'data', 'id', 'error') },
);
/** Adds spaces where JSON allows them, which the fast reader does not accept. */
const spaced = fc
  .tuple(frame, fc.constantFrom(0, 1, '\t', '\r\n'))
  .map(([value, space]) =>
    JSON.stringify(value, null, typeof space === 'string' ? '  ' : space).replaceAll(
      '\n',
      typeof space === 'string' ? space : '\n',
    ),
  );
const bytesOf = (text: string) => Buffer.from(text, 'utf8');
const framed = fc.oneof(
  jsonText(frame).map(bytesOf),
  torn(spaced).map(bytesOf),
  fc
    .uint8Array({ maxLength: 60 })
    .map((bytes) => Buffer.concat([bytesOf('{"type":"thesis","data":'), bytes, bytesOf('}')])),
  fc.uint8Array(),
);

describe('a frame', () => {
  test('is read without an exception, for any bytes', () => {
    holds(framed, (bytes) => {
      const frame = readFrame(bytes);
      if (frame.kind === 'row') expect(frame.row.id).not.toBe('');
      if (frame.kind === 'error') expect(frame.text).not.toMatch(/undefined|\[object/);
    });
  });

  test('gives the same row with the fast and the tolerant reader', () => {
    holds(framed, (bytes) => {
      const quick = readThesis(bytes);
      if (!quick) return;
      const thorough = readOtherFrame(Buffer.from(bytes).toString('utf8'));
      const row = { id: quick.id, at: quick.at, record: quick.record, raw: null };
      expect(thorough).toEqual({ kind: 'row', row });
      expect(tailRow(quick.record, 'platformCreatedAt')).toEqual(row);
    });
  });

  test('is printed as one line with the complete record', () => {
    holds(framed, (bytes) => {
      const row = readThesis(bytes);
      if (!row?.raw) return;
      const line = isPlainLine(row.raw) ? Buffer.from(row.raw).toString('utf8') : lineOf(row.raw);
      expect(line).not.toMatch(/[\n\r]/);
      expect(JSON.parse(line)).toEqual(JSON.parse(jsonLine(row.record)));
    });
  });

  test('of a thesis with an id is never dropped because of an unknown field', () => {
    holds(damaged(data), (record) => {
      const text = JSON.stringify({ type: 'thesis', data: record ?? null });
      const sent: unknown = JSON.parse(text).data;
      const isBag = typeof sent === 'object' && sent !== null && !Array.isArray(sent);
      const wanted =
        isBag &&
        'id' in sent &&
        (typeof sent.id === 'number' || (typeof sent.id === 'string' && sent.id !== ''));
      const plain = isBag && 'id' in sent && typeof sent.id === 'string' && sent.id !== '';
      expect(readThesis(bytesOf(text)) !== null).toBe(plain);
      if (wanted) expect(readFrame(bytesOf(text))).toMatchObject({ kind: 'row' });
    });
  });
});
