import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMarkdownPrinter } from '../../../src/output/format/markdown.ts';
import { createSink } from '../../../src/output/sink.ts';
import { holdsInTime } from '../../fuzz/fuzz.ts';

interface Row {
  readonly name: string;
  readonly text: string;
}

/** Prints rows as a Markdown table. */
async function print(rows: readonly Row[]): Promise<string> {
  const stream = new PassThrough();
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  const printer = createMarkdownPrinter<Row>({
    format: 'markdown',
    sink: createSink(stream, { name: 'stdout' }),
    view: {
      empty: 'nothing found',
      fields: ['name', 'text'],
      columns: [
        { title: 'name', kind: 'text', value: (row) => row.name },
        { title: 'text', kind: 'text', value: (row) => row.text },
      ],
    },
  });
  for (const row of rows) await printer.write(row);
  await printer.end();
  return Buffer.concat(parts).toString('utf8');
}

const pieces = [
  '|',
  '\\',
  '`',
  '<img src=x>',
  '[a](javascript:1)',
  '\n',
  '\r\n',
  '\u2028',
  '&amp;',
  '*',
  '~~',
  '$',
  '\t',
  '| --- |',
];
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join('')),
);

describe('a Markdown table', () => {
  it('has one row of two cells per record, without markup, for any text', () =>
    holdsInTime(fc.array(fc.record({ name: text, text }), { maxLength: 3 }), async (rows) => {
      const printed = await print(rows);
      const lines = printed.split(/[\n\r\u0085\u2028\u2029]/);
      expect(lines).toHaveLength(2 + rows.length + 1);
      for (const line of lines.slice(2, -1)) {
        const active = line.replace(/\\[\\`*_[\]<>|~&$]/g, '');
        expect(active.match(/\|/g)).toHaveLength(3);
        expect(active).not.toMatch(/[\\`*_[\]<>~&$]/);
      }
    }));
});
