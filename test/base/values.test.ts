import { afterEach, describe, expect, it } from 'vitest';
import {
  baseUrl,
  decimal,
  duration,
  instantAt,
  integer,
  oneOf,
  onOff,
  positiveDuration,
  share,
  time,
  timeout,
  units,
} from '../../src/base/values.ts';

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
    expect(['0', '0s', '0ms', '0.4ms'].map(positiveDuration.read)).toEqual(Array(4).fill(undefined));
    expect(positiveDuration.read('1ms')).toBe(1);
  });

  it('rejects a timeout of zero, and one that overflows the timers of Node', () => {
    expect(['0', '0s', '25h', '30d'].map(timeout.read)).toEqual(Array(4).fill(undefined));
    expect(['1ms', '24h'].map(timeout.read)).toEqual([1, 86_400_000]);
  });
});

describe('times', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
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
    process.env['TZ'] = 'Asia/Tokyo';
    expect(at('2026-01-31')).toBe('2026-01-30T15:00:00.000Z');
    expect(at('2026-01-31 09:30')).toBe('2026-01-31T00:30:00.000Z');
    expect(at('2026-01-31', true)).toBe('2026-01-31T00:00:00.000Z');
    expect(at('2026-01', true)).toBe('2026-01-01T00:00:00.000Z');
    expect(at('2026-01-31T09:30Z')).toBe('2026-01-31T09:30:00.000Z');
  });

  it('reads now, today and yesterday', () => {
    process.env['TZ'] = 'Asia/Tokyo';
    expect(at('now')).toBe('2026-01-31T22:30:00.000Z');
    expect([at('today'), at('yesterday')]).toEqual(['2026-01-31T15:00:00.000Z', '2026-01-30T15:00:00.000Z']);
    expect([at('today', true), at('yesterday', true)]).toEqual([
      '2026-01-31T00:00:00.000Z',
      '2026-01-30T00:00:00.000Z',
    ]);
  });

  it('starts yesterday at midnight even if a clock change makes a day longer', () => {
    process.env['TZ'] = 'Europe/Berlin';
    const morning = Date.UTC(2026, 9, 26, 8);
    expect(instantAt({ day: -1 }, morning)).toBe(Date.UTC(2026, 9, 24, 22));
  });

  it.each(['tomorrow', '2026-13-40', '2026-02-30', '12:30', '1769851800', '2026-01-31 (x)', 'constructor'])(
    'rejects "%s"',
    (text) => expect(time.read(text)).toBeUndefined(),
  );
});

describe('amounts of units', () => {
  it.each([
    ['30000', 30_000],
    ['30_000', 30_000],
    ['30,000', 30_000],
    ['30k', 30_000],
    ['2.5M', 2_500_000],
    ['1.001k', 1_001],
    ['0', 0],
  ])('reads %s', (text, amount) => expect(units.read(text)).toBe(amount));

  it.each(['-5', '1.5', 'lots', '1e9', '', 'k', '99999999999999999999', '1.0001k'])(
    'rejects "%s"',
    (text) => {
      expect(units.read(text)).toBeUndefined();
    },
  );

  it('rejects a decimal comma, which would be read as a number ten times as large', () => {
    expect(['1,5M', '1,50k', '1_5', '3,0000'].map(units.read)).toEqual(Array(4).fill(undefined));
  });
});

describe('numbers, choices and shares', () => {
  it('rejects numbers outside of their bounds and names the bounds', () => {
    const limit = integer({ min: 1, max: 100 });
    expect([limit.read('20'), limit.read('0'), limit.read('101'), limit.read('2.5')]).toEqual([
      20,
      undefined,
      undefined,
      undefined,
    ]);
    expect(limit.hint).toContain('from 1 to 100');
    expect([decimal().read('2.5'), decimal().read('10k'), decimal().read('-1M')]).toEqual([2.5, 1e4, -1e6]);
  });

  it('names the choices', () => {
    expect(oneOf('bare', 'wrapped').read('bare')).toBe('bare');
    expect(oneOf('bare', 'wrapped').read('nude')).toBeUndefined();
    expect(oneOf('bare', 'wrapped').hint).toContain('bare, wrapped');
    expect(['true', 'false', 'yes', '__proto__'].map(onOff.read)).toEqual([
      true,
      false,
      undefined,
      undefined,
    ]);
  });

  it('reads shares as percent or fraction', () => {
    expect(['10%', '0.25', '150%', '-1%', '100%'].map(share.read)).toEqual([
      0.1,
      0.25,
      undefined,
      undefined,
      1,
    ]);
  });
});

describe('base URLs', () => {
  it.each([
    ['https://h/v/', 'https://h/v'],
    ['api.example.test', 'https://api.example.test'],
    ['api.example.test:8443/v', 'https://api.example.test:8443/v'],
    ['localhost:8080', 'https://localhost:8080'],
    ['HTTP://127.0.0.1:1/', 'http://127.0.0.1:1'],
  ])('reads %s as %s', (text, url) => expect(baseUrl.read(text)).toBe(url));

  it.each([
    '',
    'ftp://h',
    'h',
    'x_live_0123456789abcdef',
    'https://u:p@h',
    'u:p@h',
    'https://h/?k=1',
    'https://h/#a',
    'two words',
    'https:\\\\h',
  ])('rejects "%s"', (text) => expect(baseUrl.read(text)).toBeUndefined());
});
