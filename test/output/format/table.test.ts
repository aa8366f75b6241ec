import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { renderCard } from '../../../src/output/format/card.ts';
import { createTable } from '../../../src/output/format/table.ts';
import { loadStyle, plainStyle, type Style } from '../../../src/output/terminal/style.ts';
import type { CellKind, Column } from '../../../src/output/view.ts';
import { alive, anyText, anyValue, check } from '../check.ts';

const now = Date.UTC(2025, 10, 21, 10, 0, 0);
const context = { utc: true, now: () => now, unicode: true };
const look = (width: number, style: Style = plainStyle) => ({ width, style, context });

type Row = Readonly<Record<string, unknown>>;
const column = (title: string, kind: CellKind, more: Partial<Column<Row>> = {}): Column<Row> => ({
  title,
  kind,
  value: (row) => row[title],
  ...more,
});

const draw = (columns: readonly Column<Row>[], rows: readonly Row[], width: number, growing = false) => {
  const table = createTable(columns, rows, look(width), growing);
  return (table.head() + rows.map(table.row).join('')).split('\n').slice(0, -1);
};

const kinds: readonly CellKind[] = [
  'text',
  'handle',
  'address',
  'usd',
  'signedUsd',
  'percent',
  'share',
  'number',
  'integer',
  'multiple',
  'time',
  'age',
  'flag',
  'link',
  'status',
  'meter',
  'spark',
];

const anyColumn = fc.record({
  title: anyText,
  kind: fc.constantFrom(...kinds),
  rank: fc.nat(4),
  min: fc.integer({ min: 1, max: 30 }),
  wrap: fc.boolean(),
  below: fc.boolean(),
  lines: fc.integer({ min: 1, max: 4 }),
});

const bonk = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';

describe('a table', () => {
  it('aligns numbers right and text left, under a rule', () => {
    const rows = [
      { name: 'ana', net: 1234.5 },
      { name: 'satoshi', net: -7 },
    ];
    expect(draw([column('name', 'text'), column('net', 'signedUsd')], rows, 80)).toEqual([
      'name            net',
      '───────  ──────────',
      'ana      +$1,234.50',
      'satoshi      -$7.00',
    ]);
  });

  it('keeps columns aligned next to emoji and CJK', () => {
    const rows = ['ana', '柴犬', '👨‍👩‍👧‍👦 fam', '🪙', 'café'].map((name) => ({ name, n: 1 }));
    const lines = draw([column('name', 'text'), column('n', 'integer')], rows, 80).slice(2);
    expect(new Set(lines.map((line) => stringWidth(line))).size).toBe(1);
  });

  it('shows an address in full if it fits, else its start and end', () => {
    const columns = [column('wallet', 'address'), column('n', 'integer')];
    expect(draw(columns, [{ wallet: bonk, n: 1 }], 80)[2]).toContain(bonk);
    expect(draw(columns, [{ wallet: bonk, n: 1 }], 40)[2]).toBe('7xKX…gAsU  1');
  });

  it('drops the column with the highest rank first, and never rank 0', () => {
    const columns = [
      column('a', 'integer'),
      column('b', 'integer', { rank: 2 }),
      column('c', 'integer', { rank: 1 }),
    ];
    const rows = [{ a: 1_000_000, b: 1_000_000, c: 1_000_000 }];
    const heads = [40, 9, 6].map((width) => draw(columns, rows, width)[0]?.trim().split(/ +/));
    expect(heads).toEqual([
      ['a', 'b', 'c'],
      ['a', 'c'],
      ['a', 'c'],
    ]);
    expect(draw(columns, rows, 3)[0]?.trim()).toBe('a');
  });

  it('truncates text with an ellipsis before it drops a column', () => {
    const columns = [column('text', 'text', { min: 6 }), column('n', 'integer', { rank: 1 })];
    expect(draw(columns, [{ text: 'a rather long text', n: 12 }], 12)).toEqual([
      'text       n',
      '────────  ──',
      'a rathe…  12',
    ]);
  });

  it('never truncates a time', () => {
    const columns = [column('posted', 'time', { min: 8 }), column('id', 'text', { min: 8 })];
    const lines = draw(columns, [{ posted: now, id: bonk }], 30, true);
    expect(lines[2]).toMatch(/^11-21 10:00Z +7xKX.*…$/);
  });

  it('never truncates a number', () => {
    const columns = [column('text', 'text', { rank: 2 }), column('usd', 'usd')];
    expect(draw(columns, [{ text: 'words words words', usd: 123_456_789 }], 10)).toEqual([
      '  usd',
      '─────',
      '$123M',
    ]);
  });

  it('wraps if requested, and marks the last line of a longer text', () => {
    const lines = draw(
      [column('t', 'text', { wrap: true, lines: 2, min: 8 })],
      [{ t: 'one two three four five six' }],
      12,
    );
    expect(lines.slice(2)).toEqual(['one two', 'three four…']);
  });

  it('puts a text below its row if there is too little room', () => {
    const columns = [column('who', 'text'), column('text', 'text', { wrap: true, below: true })];
    const rows = [
      { who: 'ana', text: 'words '.repeat(10).trim() },
      { who: 'bo', text: null },
    ];
    expect(draw(columns, rows, 30)).toEqual([
      'who',
      '───',
      'ana',
      '  words words words words',
      '  words words words words',
      '  words words',
      'bo',
    ]);
    expect(draw(columns, rows, 80)[2]).toBe(`ana  ${rows[0]?.text}`);
  });

  it('shows later rows within the widths of the first rows', () => {
    const table = createTable(
      [column('name', 'text'), column('n', 'integer')],
      [{ name: 'a', n: 1 }],
      look(30),
      true,
    );
    expect(table.row({ name: 'a name that is longer than the others', n: 123_456_789_012 })).toBe(
      'a name that…       123B\n',
    );
  });

  it("never exceeds the terminal's width or contains active characters, for any content", () => {
    check(
      fc.property(
        fc.array(anyColumn, { minLength: 1, maxLength: 7 }),
        fc.array(fc.array(anyValue, { maxLength: 7 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 220 }),
        fc.boolean(),
        fc.boolean(),
        (specs, values, width, growing, unicode) => {
          const columns = specs.map(
            (spec, index): Column<readonly unknown[]> => ({ ...spec, value: (row) => row[index] }),
          );
          const table = createTable(
            columns,
            values.slice(0, 2),
            { width, style: plainStyle, context: { ...context, unicode } },
            growing,
          );
          const text = table.head() + values.map(table.row).join('');
          expect(text).not.toMatch(alive);
          for (const line of text.split('\n')) {
            expect(stringWidth(line)).toBeLessThanOrEqual(width);
            expect(line).not.toMatch(/ $/);
          }
          if (!unicode) expect(text).toMatch(/^[\n\x20-\x7e]*$/);
        },
      ),
      1000,
    );
  });

  it('shows nothing with color that it does not show without', async () => {
    const style = await loadStyle(true);
    const columns = kinds.map((kind) => column(kind, kind));
    const row = Object.fromEntries(kinds.map((kind, index) => [kind, index % 2 ? index - 5 : true]));
    const drawn = (paint: Style) => {
      const table = createTable(columns, [row], look(200, paint));
      return table.head() + table.row(row);
    };
    const coloured = drawn(style);
    expect(coloured).toContain('\x1b[');
    expect(coloured.replace(/\x1b\[\d+m/g, '')).toBe(drawn(plainStyle));
  });
});

describe('a card', () => {
  const card = {
    title: (row: Row) => String(row['title']),
    lines: [
      { label: 'wallet', kind: 'address', value: (row: Row) => row['wallet'] },
      { label: 'gone', kind: 'text', value: () => undefined },
      { label: 'bio', kind: 'text', value: (row: Row) => row['bio'] },
      { label: 'net', kind: 'signedUsd', value: (row: Row) => row['net'] },
      { label: 'left', kind: 'meter', value: (row: Row) => row['left'] },
    ],
    table: {
      titles: [
        { title: 'window', kind: 'text' },
        { title: 'net', kind: 'usd' },
      ],
      rows: () => [['24h', 5]],
    },
  } as const;

  it('has a title, one line per value, and a small table', () => {
    const row = {
      title: '@ana',
      wallet: bonk,
      bio: 'one\ntwo',
      net: 1_234_567.891,
      left: { used: 5, of: 20 },
    };
    expect(renderCard(card, row, look(80)).split('\n')).toEqual([
      '@ana',
      `  wallet  ${bonk}`,
      '  bio     one',
      '          two',
      '  net     +$1,234,567.89',
      '  left    ██████░░░░░░░░░░░░░░░░░░  25%  5 of 20',
      '',
      '  window    net',
      '  ──────  ─────',
      '  24h     $5.00',
      '',
    ]);
  });

  it("never exceeds the terminal's width or contains active characters, for any content", () => {
    check(
      fc.property(
        anyText,
        anyValue,
        anyValue,
        anyValue,
        fc.integer({ min: 1, max: 220 }),
        (title, wallet, bio, net, width) => {
          const text = renderCard(card, { title, wallet, bio, net, left: net }, look(width));
          expect(text).not.toMatch(alive);
          for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
      1000,
    );
  });
});
