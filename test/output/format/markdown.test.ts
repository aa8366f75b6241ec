import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePoints } from '../../code-points.ts';
import { holdsInTime } from '../../fuzz/fuzz.ts';
import { fieldsView, print } from '../print.ts';

const view = fieldsView('name', 'text');

const pieces = [
  ['|', '\\', '`', '<img src=x>', '[a](javascript:1)', '\n', '\r\n', '\u2028', '&amp;', '*'],
  ['~~', '$', '\t', '| --- |'],
].flat();
const text = fc.oneof(
  codePoints(12),
  fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join('')),
);

describe('a Markdown table', () => {
  it('has one row of two cells per record, without markup, for any text', () =>
    holdsInTime(fc.array(fc.record({ name: text, text }), { maxLength: 3 }), async (rows) => {
      const { text: printed } = await print(rows, { view, format: 'markdown' });
      const lines = printed.split(/[\n\r\u0085\u2028\u2029]/);
      expect(lines).toHaveLength(2 + rows.length + 1);
      for (const line of lines.slice(2, -1)) {
        const active = line.replace(/\\[\\`*_[\]<>|~&$]/g, '');
        expect(active.match(/\|/g)).toHaveLength(3);
        expect(active).not.toMatch(/[\\`*_[\]<>~&$]/);
      }
    }));
});
