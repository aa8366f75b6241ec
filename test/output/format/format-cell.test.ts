import { describe, expect, it } from 'vitest';
import { bar } from '../../../src/output/format/bars.ts';
import { formatCell } from '../../../src/output/format/format-cell.ts';
import type { CellKind } from '../../../src/output/view.ts';

const now = Date.UTC(2025, 10, 21, 10, 0, 0);
const berlin = { utc: false, timeZone: 'Europe/Berlin', now: () => now, unicode: true };
const form = (kind: CellKind, value: unknown, context = berlin) => formatCell(kind, value, context).forms[0];
const last = (kind: CellKind, value: unknown) => formatCell(kind, value, berlin).forms.at(-1);

describe('a cell', () => {
  it('is a dash without a value', () => {
    expect(form('usd', null)).toBe('—');
    expect(form('text', undefined, { ...berlin, unicode: false })).toBe('-');
  });

  it.each([
    ['usd', 0, '$0.00'],
    ['usd', 0.5, '$0.50'],
    ['usd', 0.00421, '$0.0042'],
    ['usd', 999.995, '$1,000.00'],
    ['usd', 1234.5, '$1,234.50'],
    ['usd', 12_345, '$12.3K'],
    ['usd', 999_999, '$1M'],
    ['usd', 1_234_567, '$1.23M'],
    ['usd', 2.5e9, '$2.5B'],
    ['usd', -3, '-$3.00'],
    ['usd', 1e20, '$1.00e20'],
    ['usd', 1e-13, '$1.0e-13'],
    ['signedUsd', 12, '+$12.00'],
    ['signedUsd', -12_000, '-$12K'],
    ['signedUsd', 0, '$0.00'],
    ['percent', 12.345, '+12.3%'],
    ['percent', -0.01, '-<0.1%'],
    ['percent', 1234, '+1,234%'],
    ['percent', 0, '0.0%'],
    ['share', 42.4242, '42.4%'],
    ['integer', 1_234_567, '1,234,567'],
    ['integer', -5, '-5'],
    ['number', 1234.5678, '1,234.57'],
    ['number', 0.5, '0.5'],
    ['number', 1e-7, '0.0000001'],
    ['multiple', 2.345, '2.35×'],
    ['multiple', 150.4, '150×'],
    ['multiple', 0.5, '0.5×'],
    ['time', now, '2025-11-21 11:00:00 +01:00'],
    ['time', '2025-07-01T00:00:00Z', '2025-07-01 02:00:00 +02:00'],
    ['time', 'soon', 'soon'],
    ['time', 1e300, '1e+300'],
    ['age', now - 90_000, '1m'],
    ['age', now - 3 * 86_400_000, '3d'],
    ['age', now + 5 * 60_000, 'in 5m'],
    ['age', now - 800 * 86_400_000, '2y'],
    ['flag', true, '✓ yes'],
    ['flag', false, 'no'],
    ['flag', 'odd', 'odd'],
    ['handle', 'ana', '@ana'],
    ['handle', '@ana', '@ana'],
    ['status', 'found', '✓ found'],
    ['status', 'failed: TIMEOUT', '✗ failed: TIMEOUT'],
    ['status', 'not found', '· not found'],
    ['status', 'queued, place 3', '… queued, place 3'],
    ['text', { a: 1 }, '{"a":1}'],
    ['usd', 'n/a', 'n/a'],
    ['meter', { used: 5, of: null }, '5, no limit'],
    ['meter', 7, '7'],
  ] as const)('of kind %s formats %j as %s', (kind, value, expected) => {
    expect(form(kind, value)).toBe(expected);
  });

  it('shortens without becoming wrong', () => {
    expect(formatCell('time', now, { ...berlin, utc: true }).forms).toEqual([
      '2025-11-21 10:00:00Z',
      '2025-11-21 10:00Z',
      '11-21 10:00Z',
    ]);
    expect(formatCell('time', now, { ...berlin, timeZone: 'Asia/Kolkata' }).forms.at(-1)).toBe(
      '11-21 15:30+05:30',
    );
    expect(formatCell('time', now, { ...berlin, timeZone: 'America/New_York' }).forms[1]).toBe(
      '2025-11-21 05:00 -05:00',
    );
    expect(last('usd', 1234.5)).toBe('$1.23K');
    expect(last('integer', 1_234_567)).toBe('1.23M');
    expect(last('address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')).toBe('0x5aAe…eAed');
    expect(last('address', 'short')).toBe('short');
  });

  it('shows cents if there is room', () => {
    expect(formatCell('signedUsd', 1_234_567.891, berlin, true).forms[0]).toBe('+$1,234,567.89');
  });

  it('is ASCII on an ASCII terminal', () => {
    const ascii = { ...berlin, unicode: false };
    expect(form('text', 'Zoë 柴 🚀', ascii)).toBe('Zoe ? ?');
    expect(form('multiple', 2, ascii)).toBe('2x');
    expect(form('status', 'found', ascii)).toBe('+ found');
    expect(form('meter', { used: 1, of: 2 }, ascii)).toBe('############............  50%  1 of 2');
  });

  it('shows by its sign what its color shows', () => {
    expect(formatCell('signedUsd', 5, berlin).tone).toBe('good');
    expect(formatCell('signedUsd', -5, berlin).tone).toBe('bad');
    expect(formatCell('signedUsd', 0, berlin).tone).toBe('plain');
    expect(formatCell('meter', { used: 97, of: 100 }, berlin).tone).toBe('bad');
  });

  it.each(['CET-1CEST', 'Nowhere/Land', ':', ''])(
    "uses the machine's time zone for the name %j",
    (timeZone) => {
      const own = formatCell('time', now, { utc: false, now: () => now, unicode: true }).forms;
      expect(formatCell('time', now, { ...berlin, timeZone }).forms).toEqual(own);
      expect(formatCell('time', now, { ...berlin, timeZone: ':Europe/Berlin' }).forms[1]).toBe(
        '2025-11-21 11:00 +01:00',
      );
    },
  );

  it("in local time follows the machine's time zone", () => {
    const shown = formatCell('time', now, { utc: false, now: () => now, unicode: true }).forms[0] ?? '';
    expect(Date.parse(shown.replace(' ', 'T').replace(' ', ''))).toBe(now);
  });
});

describe('a meter', () => {
  it('is empty only at zero and full only at the maximum', () => {
    expect(bar(0, 4)).toBe('░░░░');
    expect(bar(0.0001, 4)).toBe('▏░░░');
    expect(bar(0.5, 4)).toBe('██░░');
    expect(bar(0.999, 4)).toBe('███▉');
    expect(bar(1, 4)).toBe('████');
    expect(bar(7, 4, false)).toBe('####');
    expect(bar(Number.NaN, 4, false)).toBe('....');
  });

  it('draws a line of columns', () => {
    expect(form('spark', [0, 1, 2, 3, 4, 5, 6, 7])).toBe('▁▂▃▄▅▆▇█');
    expect(form('spark', [1, null, 1])).toBe('▅ ▅');
    expect(form('spark', [0, 7], { ...berlin, unicode: false })).toBe('_@');
  });
});
