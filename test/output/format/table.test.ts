import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { renderCard } from '../../../src/output/format/card.ts';
import { createTable } from '../../../src/output/format/table.ts';
import { loadStyle, type Style } from '../../../src/output/terminal/style.ts';
import type { CellKind, Column } from '../../../src/output/view.ts';
import { localTime } from '../../local-time.ts';
import { anyText, anyValue, check, unsafe } from '../check.ts';

const now = Date.UTC(2025, 10, 21, 10, 0, 0);
const context = { utc: true, now: () => now, unicode: true };
const plainStyle = await loadStyle(false);
const look = (width: number, style: Style = plainStyle) => ({ width, style, context });

type Row = Readonly<Record<string, unknown>>;
const column = (title: string, kind: CellKind, more: Partial<Column<Row>> = {}): Column<Row> => ({
  title,
  kind,
  value: (row) => row[title],
  ...more,
});

const draw = (columns: readonly Column<Row>[], rows: readonly Row[], width: number) => {
  const table = createTable(columns, rows, look(width), false);
  return table.draw(rows, true).split('\n').slice(0, -1);
};

const names =
  'text handle address usd signedUsd percent number integer multiple time flag link status meter bar move';
const kinds = names.split(' ') as CellKind[];

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

localTime('UTC');

describe('a table', () => {
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
    const heads = [40, 20, 19].map((width) => draw(columns, rows, width)[0]?.trim().split(/ +/));
    expect(heads).toEqual([['a', 'b', 'c'], ['a', 'c'], ['a']]);
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

  it('cuts the beginning of a text whose end tells more', () => {
    for (const [path, shown] of [
      ['/var/lib/feeds/theses.ndjson', '…theses.ndjson'],
      ['/var/lib/feeds/这些.ndjson', '…s/这些.ndjson'],
      ['/var/lib/feeds/这些这这.ndjson', '…些这这.ndjson'],
      ['theses.ndjson', 'theses.ndjson'],
    ] as const) {
      const columns = [column('text', 'text', { min: 6, keepsEnd: true })];
      expect(draw(columns, [{ text: path }], 14)[2]?.trimEnd()).toBe(shown);
    }
  });

  it('writes times with their offset in the header', () => {
    const times = (moments: readonly number[], zone?: string) => {
      if (zone) process.env['TZ'] = zone;
      const rows = moments.map((at) => ({ at }));
      const own = { ...look(80), context: { ...context, utc: zone === undefined } };
      const table = createTable([column('at', 'time')], rows, own);
      const [head, , ...lines] = table.draw(rows, true).trimEnd().split('\n');
      return [head, ...lines];
    };
    const day = 86_400_000;
    expect(times([now, now - day])).toEqual(['      at (UTC)', '11-21 10:00:00', '11-20 10:00:00']);
    expect(times([now, now - 365 * day]).slice(1)).toEqual([
      '     11-21 10:00:00',
      '2024-11-21 10:00:00',
    ]);
    expect(times([now], 'Asia/Kolkata')).toEqual(
      ['at (UTC+5:30)', '11-21 15:30:00'].map((text) => text.padStart(14)),
    );
    expect(times([now], 'America/New_York')[0]).toBe('    at (UTC-5)');
    // All times use the present offset, even a time of last summer.
    const summer = Date.UTC(2025, 6, 1, 10);
    expect(times([summer], 'Europe/Berlin')).toEqual(['    at (UTC+1)', '07-01 11:00:00']);
  });

  it('writes all numbers of a column with the same precision', () => {
    const shown = (kind: CellKind, values: readonly unknown[]) => {
      const rows = values.map((n) => ({ n }));
      const [, , ...lines] = draw([column('n', kind)], rows, 80);
      return lines.map((line) => line.trim());
    };
    expect(shown('usd', [0.5, 1234.5, 0, null])).toEqual(['$0.50', '$1,234.50', '$0.00', '—']);
    expect(shown('usd', [0.5, 12_345.6, -20])).toEqual(['$1', '$12,346', '-$20']);
    expect(shown('usd', [0.4, 12_345.6])).toEqual(['<$1', '$12,346']);
    expect(shown('signedUsd', [-0.001, 5])).toEqual(['-<$0.01', '+$5.00']);
    expect(shown('percent', [1, -0.01, 250.25])).toEqual(['+1.0%', '-<0.1%', '+250.3%']);
    expect(shown('percent', [1, 2500.25])).toEqual(['+1%', '+2,500%']);
    expect(shown('multiple', [1, 1.256, 0.3])).toEqual(['1.00×', '1.26×', '0.30×']);
    expect(shown('multiple', [1, 250.2])).toEqual(['1×', '250×']);
    expect(shown('number', [1, 2.5])).toEqual(['1.00', '2.50']);
    expect(shown('number', [1, 2000])).toEqual(['1', '2,000']);
    expect(shown('number', [1, 'n/a'])).toEqual(['1', 'n/a']);
  });

  it('highlights matches of a search, also in a text below a row', () => {
    const mark: Style = (tone, text) => (tone === 'match' ? `[${text}]` : text);
    const columns = [column('who', 'handle'), column('text', 'text', { wrap: true, below: true })];
    const rows = [{ who: '@sun', text: 'The sun, the SUN and a sunset over a very wide sea' }];
    const table = createTable(columns, rows, { ...look(30, mark), highlight: /sun/gi });
    expect(table.draw(rows, false)).toBe(
      '@sun\n  The [sun], the [SUN] and a\n  [sun]set over a very wide sea\n',
    );
  });

  it('does not search very long lines, because the time grows with the square of their length', () => {
    const mark: Style = (tone, text) => (tone === 'match' ? `[${text}]` : text);
    const columns = [column('text', 'text', { whole: true })];
    const highlight = /a*b/g;
    const shown = (text: string) =>
      createTable(columns, [{ text }], { ...look(30, mark), highlight }).draw([{ text }], false);
    expect(shown(`${'a'.repeat(1_999)}b`)).toContain('[a');
    expect(shown(`${'a'.repeat(2_000)}b`)).not.toContain('[');
  });

  it('never truncates a number', () => {
    const columns = [column('text', 'text', { rank: 2 }), column('usd', 'usd')];
    expect(draw(columns, [{ text: 'words words words', usd: 123_456_789 }], 14)).toEqual([
      '         usd',
      '────────────',
      '$123,456,789',
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
          const own = { width, style: plainStyle, context: { ...context, unicode } };
          const [first, later] = [values.slice(0, 2), values.slice(2)];
          const table = createTable(columns, first, own, growing);
          const rest = later.map((row) => table.draw([row], false)).join('');
          const text = table.draw(first, true) + rest;
          expect(text).not.toMatch(unsafe);
          for (const line of text.split('\n')) {
            expect(stringWidth(line)).toBeLessThanOrEqual(width);
            expect(line).not.toMatch(/ $/);
          }
          if (!unicode) expect(text).toMatch(/^[\n\x20-\x7e]*$/);
        },
      ),
    );
  });

  it('conveys nothing by color alone', async () => {
    const style = await loadStyle(true);
    const columns = kinds.map((kind) => column(kind, kind));
    const row = Object.fromEntries(
      kinds.map((kind, index) => [kind, index % 2 ? index - 5 : true]),
    );
    const drawn = (paint: Style) => {
      const table = createTable(columns, [row], look(200, paint));
      return table.draw([row], true);
    };
    const colored = drawn(style);
    expect(colored).toContain('\x1b[');
    expect(colored.replace(/\x1b\[\d+m/g, '')).toBe(drawn(plainStyle));
  });
});

describe('a card', () => {
  it('is its title alone if nothing else is known', () => {
    const card = {
      title: () => 'nobody: not found',
      lines: [{ title: 'bio', kind: 'text', value: () => undefined }],
    } as const;
    expect(renderCard(card, {}, look(80))).toBe('nobody: not found\n');
  });

  const card = {
    title: (row: Row) => String(row['title']),
    lines: [
      { title: 'wallet', kind: 'address', value: (row: Row) => row['wallet'] },
      { title: 'gone', kind: 'text', value: () => undefined },
      { title: 'bio', kind: 'text', value: (row: Row) => row['bio'] },
      { title: 'net', kind: 'signedUsd', value: (row: Row) => row['net'] },
      { title: 'left', kind: 'meter', value: (row: Row) => row['left'] },
    ],
    table: {
      columns: [
        { title: 'window', kind: 'text', field: 'window' },
        { title: 'net', kind: 'usd', field: 'net' },
      ],
      rows: () => [{ window: '24h', net: 5 }],
    },
  } as const;

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
          expect(text).not.toMatch(unsafe);
          for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
