import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/base/json.ts';
import { createPrinter } from '../../../src/output/format/printer.ts';
import type { PrinterOptions } from '../../../src/output/format/printing.ts';
import { createSink } from '../../../src/output/sink.ts';
import type { View } from '../../../src/output/view.ts';
import { anyValue, check } from '../check.ts';
import { fieldsView, look, print as printed, type Row } from '../print.ts';

const view: View<Row> = {
  columns: [
    { title: 'name', kind: 'text', value: (row) => row['name'] },
    { title: 'net', kind: 'signedUsd', value: (row) => row['net'], field: 'net' },
  ],
  card: {
    title: (row) => `@${row['name']}`,
    lines: [{ title: 'net', kind: 'usd', value: (row) => row['net'] }],
  },
  fields: () => ['name', 'net', 'deep.a'],
  empty: 'nobody',
};

const print = (records: readonly Row[], options: Partial<PrinterOptions<Row>> = {}) =>
  printed(records, { view, format: 'ndjson', ...options });

/** An escaped lone surrogate, as `JSON.stringify` writes it. Escaped backslashes may precede it. */
const loneSurrogate = /((?<!\\)(?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

describe('NDJSON', () => {
  it('contains the same values, for any values', () =>
    check(
      fc.asyncProperty(
        fc.array(fc.record({ name: anyValue, x: anyValue }), { maxLength: 4 }),
        async (records) => {
          const { text } = await print(records);
          const lines = text.split('\n');
          expect(lines.pop()).toBe('');
          expect(lines.map((line) => JSON.parse(line))).toEqual(
            JSON.parse(JSON.stringify(records).replaceAll(loneSurrogate, '$1\ufffd')),
          );
        },
      ),
    ));

  it('forwards raw JSON in the spelling of records, without active characters', async () => {
    const stream = new PassThrough();
    const text = stream.setEncoding('utf8').toArray();
    const printer = await createPrinter<Row>({
      ...look,
      sink: createSink(stream),
      view,
      format: 'ndjson',
    });
    const raw = [
      '{"n": 1.0, "big":12345678901234567890}',
      '{"a":"ü 🚀 “x”"}',
      '{\n "a": 1\n}',
      `{"a":"${'x'.repeat(999)}",\n"b":\r2}`,
      '{"a":"\\u00e9 \\/ \\ud83d"}',
      '{"a":"\u009b2J\u202e\x7f"}',
    ];
    for (const line of raw) await printer.writeRaw?.(Buffer.from(line));
    await printer.end();
    stream.end();
    expect((await text).join('').split('\n')).toEqual([
      '{"n":1.0,"big":12345678901234567890}',
      raw[1],
      '{"a":1}',
      `{"a":"${'x'.repeat(999)}","b":2}`,
      '{"a":"é / \ufffd"}',
      '{"a":"\\u009b2J\\u202e\\u007f"}',
      '',
    ]);
  });
});

it('--times iso converts the times in lists of records, and keeps digits', async () => {
  const at = 1_795_910_000_000;
  const record = parseJson(`{"list":[{"firstAt":${at},"n":1.10,"gaps":[{"from":${at}}]},2.0]}`);
  const options = { view: fieldsView('list'), times: 'iso' } as const;
  const { text } = await print([record as Row], options);
  const iso = '"2026-11-28T23:53:20.000Z"';
  expect(text).toBe(`{"list":[{"firstAt":${iso},"n":1.10,"gaps":[{"from":${iso}}]},2.0]}\n`);
});
