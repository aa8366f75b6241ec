import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { disarm } from '../../../src/base/formulas.ts';
import { withoutControls } from '../../../src/output/terminal/safe-text.ts';
import { anyText, anyValue, check } from '../check.ts';
import { fieldsView, print, type Row } from '../print.ts';

/** An independent RFC 4180 reader. */
function read(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let at = 0;
  while (at < text.length) {
    if (cell === '' && text[at] === '"') {
      for (at++; ; at++) {
        if (at >= text.length) throw new Error('a quote is left open');
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at++;
        } else break;
      }
      at++;
      if (at < text.length && text[at] !== ',' && text[at] !== '\n')
        throw new Error('text after a quote');
    }
    if (at >= text.length || text[at] === ',' || text[at] === '\n') {
      row.push(cell);
      cell = '';
      if (text[at] !== ',') {
        rows.push(row);
        row = [];
      }
      at++;
    } else cell += text[at++];
  }
  return rows;
}

const csvOf = async (records: readonly Row[], fields: readonly string[], terminal = false) =>
  (await print(records, { view: fieldsView(...fields), format: 'csv', terminal })).text;

const isNumber = (text: string) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);

describe('CSV', () => {
  it('writes numbers unchanged, lists as JSON and null as empty', async () => {
    const record = { a: -5, b: 1.5e-9, c: [1, { d: 'x' }], d: null, e: true, f: '-7.5' };
    expect(await csvOf([record], ['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe(
      'a,b,c,d,e,f,g\n-5,1.5e-9,"[1,{""d"":""x""}]",,true,-7.5,\n',
    );
  });

  it('adds the unknown fields of the first record, and reports later ones once', async () => {
    const records = [
      { a: 1, n: { k: 1, x: 2 }, new: { y: 3, z: { q: 4 } } },
      { a: 2, odd: 1 },
      { odd: 2, n: { w: 1 } },
    ];
    const { text, said } = await print(records, { view: fieldsView('a', 'n.k'), format: 'csv' });
    expect(text).toBe('a,n.k,n.x,new.y,new.z.q\n1,1,2,3,4\n2,,,,\n,,,,\n');
    expect(said.map((notice) => notice.slice(0, 31))).toEqual([
      'the field odd is not in the CSV',
      'the field n.w is not in the CSV',
    ]);
  });

  it('has a column for a value in place of an object, or reports it', async () => {
    const view = fieldsView('a', 'n.k');
    const first = await print([{ a: 1, n: 'x' }, { n: null }], { view, format: 'csv' });
    expect(first).toEqual({ text: 'a,n.k,n\n1,,x\n,,\n', said: [] });
    const later = await print([{ a: 1, n: { k: 2 } }, { n: [3] }], { view, format: 'csv' });
    expect(later.said.map((notice) => notice.slice(0, 29))).toEqual([
      'the field n is not in the CSV',
    ]);
  });

  it('does not write rows that look like blank lines', async () => {
    expect(await csvOf([{ a: null }, { a: '' }], ['a'])).toBe('a\n""\n""\n');
  });

  it('is read back unchanged by another reader, for any text', () =>
    check(
      fc.asyncProperty(
        fc.array(fc.tuple(anyText, anyText), { minLength: 1, maxLength: 5 }),
        async (rows) => {
          const text = await csvOf(
            rows.map(([a, b]) => ({ a, b })),
            ['a', 'b'],
          );
          const expected = rows.map((row) =>
            row.map((cell) => Buffer.from(disarm(withoutControls(cell))).toString()),
          );
          expect(read(text).slice(1)).toEqual(expected);
        },
      ),
    ));

  it('never contains an active formula, also for a spreadsheet that separates cells by ; or tabs', () => {
    const part = fc.constantFrom(...'=+-@"\';\t\n\r ,a1\u200b＝');
    const parts = fc.array(part, { maxLength: 12 }).map((some) => some.join(''));
    return check(
      fc.asyncProperty(parts, parts, anyValue, async (a, b, c) => {
        const text = await csvOf([{ [a]: b, c }], []);
        for (const cell of [...read(text).flat(), ...text.split(/[;\t\n]/)]) {
          // A spreadsheet may treat quotes and commas as part of the cell.
          const start = cell.replace(/^["\s\p{C}]+/u, '').normalize('NFKC');
          if (!isNumber(start.replace(/[",].*$/s, ''))) expect(start).not.toMatch(/^[=+\-@]/);
        }
      }),
    );
  });

  it('contains no character that a terminal interprets, and keeps the lines of a text', async () => {
    const record = { a: 'x\x1b[31m\x9by\u202ez\x7f', b: 'one\r\ntwo\rthree\tend' };
    expect(await csvOf([record], ['a', 'b'])).toBe(
      'a,b\nx\ufffd[31m\ufffdy\ufffdz\ufffd,"one\ntwo\nthree\tend"\n',
    );
    expect(await csvOf([{ a: 'x\x1b[31m\u202ey' }], ['a'], true)).toBe('a\nxy\n');
  });
});
