import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CsvOptions, createCsv, csvCell, csvText } from '../../../src/output/format/csv.ts';
import { disarm } from '../../../src/output/format/disarm-formula.ts';
import { anyText, anyValue, check } from '../check.ts';

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
      if (at < text.length && text[at] !== ',' && text[at] !== '\n') throw new Error('text after a quote');
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

const csvOf = (records: readonly unknown[], options: CsvOptions) => {
  const csv = createCsv(options);
  return records.map((record) => csv.line(record)).join('') + csv.end();
};

const isNumber = (text: string) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);

describe('CSV', () => {
  it('has a header with the known fields, even without rows', () => {
    expect(csvOf([], { fields: ['a', 'b.c'] })).toBe('a,b.c\n');
    expect(csvOf([{ b: { c: 2 }, a: 1 }], { fields: ['a', 'b.c'] })).toBe('a,b.c\n1,2\n');
  });

  it('writes numbers unchanged, lists as JSON and null as empty', () => {
    const record = { a: -5, b: 1.5e-9, c: [1, { d: 'x' }], d: null, e: true, f: '-7.5' };
    expect(csvOf([record], { fields: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] })).toBe(
      'a,b,c,d,e,f,g\n-5,1.5e-9,"[1,{""d"":""x""}]",,true,-7.5,\n',
    );
  });

  it('adds the unknown fields of the first record, and reports later ones once', () => {
    const later: string[] = [];
    const text = csvOf(
      [
        { a: 1, n: { k: 1, x: 2 }, new: { y: 3, z: { q: 4 } } },
        { a: 2, odd: 1 },
        { odd: 2, n: { w: 1 } },
      ],
      { fields: ['a', 'n.k'], onUnknown: (path) => later.push(path) },
    );
    expect(text).toBe('a,n.k,n.x,new.y,new.z.q\n1,1,2,3,4\n2,,,,\n,,,,\n');
    expect(later).toEqual(['odd', 'n.w']);
  });

  it('finds fields whose names contain dots', () => {
    expect(csvOf([{ 'a.b': 1, c: { 'd.e': 2 } }], { fields: [] })).toBe('a.b,c.d.e\n1,2\n');
  });

  it('can append to a file with a header', () => {
    expect(csvOf([{ a: 1 }], { fields: ['a'], header: false, fixed: true })).toBe('1\n');
  });

  it('does not write rows that look like blank lines', () => {
    expect(csvOf([{ a: null }, { a: '' }], { fields: ['a'] })).toBe('a\n""\n""\n');
  });

  it('is read back unchanged by another reader, for any text', () => {
    check(
      fc.property(fc.array(fc.tuple(anyText, anyText, anyText), { minLength: 1, maxLength: 5 }), (rows) => {
        const text = csvOf(
          rows.map(([a, b, c]) => ({ a, b, c })),
          { fields: ['a', 'b', 'c'] },
        );
        const expected = rows.map((row) => row.map((cell) => csvText(cell)));
        expect(read(text).slice(1)).toEqual(expected);
      }),
      2000,
    );
  });

  it('never contains an active formula, for any record and field names', () => {
    check(
      fc.property(fc.dictionary(anyText, anyValue, { minKeys: 1, maxKeys: 5 }), (record) => {
        for (const row of read(csvOf([record], { fields: [] }))) {
          for (const cell of row) {
            const start = cell.replace(/^[\s\p{C}\u180e\u2028\u2029\xa0]+/u, '').normalize('NFKC');
            if (!isNumber(cell)) expect(start).not.toMatch(/^[=+\-@]/);
            expect(cell).not.toMatch(/^[\t\r\n]/);
          }
        }
      }),
      2000,
    );
  });

  it('disarms text but not numbers', () => {
    for (const text of [
      '=1',
      '+1+1',
      '-x',
      '@A1',
      ' =1',
      '\u00a0=1',
      '\u200b=1',
      '＝1',
      '﹢1',
      '⩵1',
      '⩶1',
      '\tx',
      '\rx',
      '-1-1',
      '+',
      '0=1'.slice(1),
    ]) {
      expect(disarm(text)).toBe(`'${text}`);
    }
    for (const text of ['-5', '+5', '-1.5e-7', '.5', '', 'a=1', '1-2', "'=1", '#'])
      expect(disarm(text)).toBe(text);
    expect(csvCell(-5)).toBe('-5');
  });

  it('disarms every part of a text that could be a cell where ; or tabs separate them', () => {
    for (const [text, disarmed] of [
      [';=1+1', ";'=1+1"],
      ['buy;=1+1;@x', "buy;'=1+1;'@x"],
      ['a\t=1', "a\t'=1"],
      ['a;"=1+1"', 'a;\'"=1+1"'],
      ['a; \u200b＝1', "a;' \u200b＝1"],
      ['a\n\n=1', "a\n\n'=1"],
      ['\t;-x', "'\t;'-x"],
      ['a;-5;+1.5', 'a;-5;+1.5'],
      ['a; b\tc\nd', 'a; b\tc\nd'],
    ] as const)
      expect(disarm(text)).toBe(disarmed);
    expect(csvCell({ a: ';=1' })).toBe('"{""a"":"";\'=1""}"');
  });

  it('never contains an active formula for a spreadsheet that separates cells by ; or tabs', () => {
    const part = fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      '"',
      "'",
      ';',
      '\t',
      '\n',
      '\r',
      ' ',
      ',',
      'a',
      '1',
      '\u200b',
      '＝',
    );
    check(
      fc.property(fc.array(part, { maxLength: 12 }), fc.array(part, { maxLength: 12 }), (first, second) => {
        const text = csvOf([{ a: first.join(''), b: second.join('') }], { fields: ['a', 'b'] });
        for (const cell of text.split(/[;\t\n]/)) {
          // A spreadsheet may treat quotes and commas as part of the cell.
          const start = cell.replace(/^["\s\p{C}]+/u, '').normalize('NFKC');
          if (!isNumber(start.replace(/[",].*$/s, ''))) expect(start).not.toMatch(/^[=+\-@]/);
        }
      }),
      3000,
    );
  });

  it('contains no character that a terminal interprets, and keeps the lines of a text', () => {
    const text = csvOf([{ a: 'x\x1b[31m\x9by\u202ez\x7f', b: 'one\r\ntwo\rthree\tend' }], {
      fields: ['a', 'b'],
    });
    expect(text).toBe('a,b\nx\ufffd[31m\ufffdy\ufffdz\ufffd,"one\ntwo\nthree\tend"\n');
  });

  it('shows people no active characters', () => {
    expect(csvOf([{ a: 'x\x1b[31m\u202ey' }], { fields: ['a'], terminal: true })).toBe('a\nxy\n');
  });
});
