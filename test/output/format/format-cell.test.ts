import { describe, expect, it } from 'vitest';
import { formatCell, gauge } from '../../../src/output/format/format-cell.ts';
import type { FormatContext } from '../../../src/output/format/printing.ts';
import type { CellKind } from '../../../src/output/view.ts';
import { localTime } from '../../local-time.ts';

const now = Date.UTC(2025, 10, 21, 10, 0, 0);
const berlin: FormatContext = { utc: false, now: () => now, unicode: true };
const form = (kind: CellKind, value: unknown, context = berlin) =>
  formatCell(kind, value, context).text;

localTime('Europe/Berlin');

describe('a cell', () => {
  it('draws a list of numbers from the lowest to the highest, with gaps', () => {
    expect(form('trend', [1, null, 8, 4])).toBe('▁ █▄');
    expect(form('trend', [-5])).toBe('▄');
    expect(form('trend', [null, null])).toBe('');
    const hours = Array.from({ length: 240 }, (_, hour) => (hour < 120 ? null : hour));
    expect(form('trend', hours)).toMatch(/^ {12}▁[▂-▇]{10}█$/);
  });

  it('is put into words for a screen reader', () => {
    const aloud = { ...berlin, words: true };
    expect(form('trend', [1, null, -8], aloud)).toBe('-$8.00 to +$1.00');
    expect(form('trend', [1], { ...berlin, unicode: false })).toBe('+$1.00 to +$1.00');
    expect(formatCell('bar', '-50', aloud, { largest: 200 }).text).toBe('');
    expect(formatCell('bar', -50, aloud, { largest: 200 }).text).toBe('-25% of the largest');
    expect(form('meter', { used: 25, of: 100 }, aloud)).toBe('25%, 25 of 100');
  });

  it('is a dash without a value', () => {
    expect(form('usd', null)).toBe('—');
    expect(form('text', undefined, { ...berlin, unicode: false })).toBe('-');
  });

  it.each([
    ['usd', 0, '$0.00'],
    ['usd', 0.00421, '$0.0042'],
    ['usd', 999.995, '$1,000.00'],
    ['usd', 12_345.6, '$12,346'],
    ['usd', 2.5e9, '$2,500,000,000'],
    ['usd', -3, '-$3.00'],
    ['usd', 1e20, '$1.00e20'],
    ['usd', 1e-13, '$1.0e-13'],
    ['signedUsd', 12, '+$12.00'],
    ['signedUsd', 0, '$0.00'],
    ['percent', 12.345, '+12.3%'],
    ['percent', -0.01, '-<0.1%'],
    ['percent', 1234, '+1,234%'],
    ['percent', 1e20, '+1.00e20%'],
    ['integer', 1_234_567, '1,234,567'],
    ['number', 1234.5678, '1,234.57'],
    ['number', 0.5, '0.5000'],
    ['number', 1e-7, '0.0000001'],
    ['multiple', 2.345, '2.35×'],
    ['multiple', 150.4, '150×'],
    ['time', now, '2025-11-21 11:00:00 +01:00'],
    ['time', '2025-07-01T00:00:00Z', '2025-07-01 02:00:00 +02:00'],
    ['time', 'soon', 'soon'],
    ['time', 1e300, '1e+300'],
    ['flag', true, '✓ yes'],
    ['flag', false, 'no'],
    ['flag', 'odd', 'odd'],
    ['handle', 'ana', '@ana'],
    ['handle', '@ana', '@ana'],
    ['handle', `0x${'1'.repeat(40)}`, `0x${'1'.repeat(40)}`],
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

  it('states the UTC offset of a time', () => {
    expect(form('time', now, { ...berlin, utc: true })).toBe('2025-11-21 10:00:00Z');
    process.env['TZ'] = 'Asia/Kolkata';
    expect(form('time', now)).toBe('2025-11-21 15:30:00 +05:30');
    process.env['TZ'] = 'America/New_York';
    expect(form('time', now)).toBe('2025-11-21 05:00:00 -05:00');
  });

  it('is ASCII on an ASCII terminal', () => {
    const ascii = { ...berlin, unicode: false };
    expect(form('text', 'Zoë 柴 🚀', ascii)).toBe('Zoe ? ?');
    expect(form('multiple', 2, ascii)).toBe('2.00x');
    expect(form('status', 'found', ascii)).toBe('+ found');
    expect(form('meter', { used: 1, of: 2 }, ascii)).toBe('######......  50%  1 of 2');
  });

  it('shows by its sign what its color shows', () => {
    expect(formatCell('signedUsd', 5, berlin).tone).toBe('good');
    expect(formatCell('signedUsd', -5, berlin).tone).toBe('bad');
    expect(formatCell('signedUsd', 0, berlin).tone).toBe('plain');
    expect(formatCell('meter', { used: 97, of: 100 }, berlin).tone).toBe('bad');
  });
});

describe('a meter', () => {
  it('is empty only at zero and full only at the maximum', () => {
    expect(gauge(0, 4)).toBe('░░░░');
    expect(gauge(0.0001, 4)).toBe('▏░░░');
    expect(gauge(0.5, 4)).toBe('██░░');
    expect(gauge(0.999, 4)).toBe('███▉');
    expect(gauge(1, 4)).toBe('████');
    expect(gauge(7, 4, false)).toBe('####');
    expect(gauge(Number.NaN, 4, false)).toBe('....');
  });
});
