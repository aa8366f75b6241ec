import { describe, expect, it } from 'vitest';
import { duration, positiveDuration, timeout } from '../../src/base/durations.ts';
import { instantAt, time } from '../../src/base/times.ts';
import { localTime } from '../local-time.ts';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['45', 45_000],
    ['0', 0],
  ])('reads %s', (text, ms) => expect(duration.read(text)).toBe(ms));

  it.each(['', 'soon', '5 minutes', '-3s', '1h30', '5x'])('rejects "%s"', (text) => {
    expect(duration.read(text)).toBeUndefined();
  });

  it('rejects zero for durations that must be positive', () => {
    expect(['0', '0s', '0ms', '0.4ms'].map(positiveDuration.read)).toEqual(
      Array(4).fill(undefined),
    );
    expect(positiveDuration.read('1ms')).toBe(1);
  });

  it('rejects a timeout of zero, and one that overflows the timers of Node', () => {
    expect(['0', '0s', '25h', '30d'].map(timeout.read)).toEqual(Array(4).fill(undefined));
    expect(['1ms', '24h'].map(timeout.read)).toEqual([1, 86_400_000]);
  });
});

describe('times', () => {
  localTime('Asia/Tokyo');
  const now = Date.UTC(2026, 0, 31, 22, 30);
  const at = (text: string, utc = false) => {
    const instant = time.read(text);
    return instant && new Date(instantAt(instant, now, utc)).toISOString();
  };

  it('reads ISO, epoch milliseconds and ages', () => {
    expect(at('2026-01-31T09:30Z')).toBe('2026-01-31T09:30:00.000Z');
    expect(at('2026-01-31T09:30:15.5+02:00')).toBe('2026-01-31T07:30:15.500Z');
    expect(at('1769851800000')).toBe('2026-01-31T09:30:00.000Z');
    expect(at('2h')).toBe('2026-01-31T20:30:00.000Z');
    expect(at('1w')).toBe('2026-01-24T22:30:00.000Z');
  });

  it('reads a time without an offset as local time, and with --utc as UTC', () => {
    expect(at('2026-01-31')).toBe('2026-01-30T15:00:00.000Z');
    expect(at('2026-01-31 09:30')).toBe('2026-01-31T00:30:00.000Z');
    expect(at('2026-01-31', true)).toBe('2026-01-31T00:00:00.000Z');
    expect(at('2026-01', true)).toBe('2026-01-01T00:00:00.000Z');
    expect(at('2026-01-31T09:30Z')).toBe('2026-01-31T09:30:00.000Z');
  });

  it('reads now, today and yesterday', () => {
    expect(at('now')).toBe('2026-01-31T22:30:00.000Z');
    expect([at('today'), at('yesterday')]).toEqual([
      '2026-01-31T15:00:00.000Z',
      '2026-01-30T15:00:00.000Z',
    ]);
    expect([at('today', true), at('yesterday', true)]).toEqual([
      '2026-01-31T00:00:00.000Z',
      '2026-01-30T00:00:00.000Z',
    ]);
  });

  it('starts yesterday at midnight even if a clock change makes a day longer', () => {
    process.env['TZ'] = 'Europe/Berlin';
    const morning = Date.UTC(2026, 9, 26, 8);
    expect(instantAt({ day: -1 }, morning, false)).toBe(Date.UTC(2026, 9, 24, 22));
  });

  it.each([
    'tomorrow',
    '2026-13-40',
    '2026-02-30',
    '12:30',
    '1769851800',
    '2026-01-31 (x)',
    'constructor',
  ])('rejects "%s"', (text) => expect(time.read(text)).toBeUndefined());
});
