import { describe, expect, it } from 'vitest';
import { duration, instantAt, integer, oneOf, share, time, units } from '../../src/cli/values.ts';
import { Failure } from '../../src/contract/failure.ts';

const refused = (read: () => unknown): Failure => {
  try {
    read();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('it was taken');
};

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['45', 45_000],
  ])('reads %s', (text, ms) => expect(duration.parse(text)).toBe(ms));

  it.each(['', 'soon', '5 minutes', '-3s', '1h30', '5x'])('refuses "%s" and shows the forms', (text) => {
    expect(refused(() => duration.parse(text)).hint).toContain('30s');
  });
});

describe('times', () => {
  const now = Date.UTC(2026, 0, 31, 12);
  const at = (text: string) => instantAt(time.parse(text), now);

  it('reads ISO, epoch milliseconds and ages', () => {
    expect(at('2026-01-31T09:30Z')).toBe(Date.UTC(2026, 0, 31, 9, 30));
    expect(at('2026-01-31')).toBe(Date.UTC(2026, 0, 31));
    expect(at('1769851800000')).toBe(1_769_851_800_000);
    expect(at('2h')).toBe(now - 7_200_000);
  });

  it('takes no epoch seconds for milliseconds', () => {
    expect(refused(() => time.parse('1769851800')).hint).toContain('13 digits');
  });

  it.each(['yesterday', '2026-13-40', '12:30'])('refuses "%s"', (text) => {
    expect(refused(() => time.parse(text)).kind).toBe('usage');
  });
});

describe('amounts of units', () => {
  it.each([
    ['30000', 30_000],
    ['30_000', 30_000],
    ['30,000', 30_000],
    ['30k', 30_000],
    ['2.5M', 2_500_000],
    ['0', 0],
  ])('reads %s', (text, amount) => expect(units.parse(text)).toBe(amount));

  it.each(['-5', '1.5', 'lots', '1e9', '', '99999999999999999999'])('refuses "%s"', (text) => {
    expect(refused(() => units.parse(text)).kind).toBe('usage');
  });
});

describe('numbers and choices', () => {
  it('keeps whole numbers within their bounds and says the bounds', () => {
    expect(integer({ min: 1, max: 100 }).parse('20')).toBe(20);
    expect(refused(() => integer({ min: 1, max: 100 }).parse('0')).message).toContain('1 to 100');
    expect(refused(() => integer().parse('2.5')).message).toContain('whole number');
  });

  it('names the choices where a word is none of them', () => {
    expect(oneOf('bare', 'wrapped').parse('bare')).toBe('bare');
    expect(refused(() => oneOf('bare', 'wrapped').parse('nude')).message).toContain('bare, wrapped');
  });

  it('reads shares as percent or fraction', () => {
    expect(share.parse('10%')).toBe(0.1);
    expect(share.parse('0.25')).toBe(0.25);
    expect(refused(() => share.parse('150%')).kind).toBe('usage');
  });
});
