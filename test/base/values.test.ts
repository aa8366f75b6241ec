import { describe, expect, it } from 'vitest';
import { decimal, integer, share, units } from '../../src/base/amounts.ts';
import { oneOf, onOff } from '../../src/base/values.ts';

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
    expect(['20', '0', '101', '2.5'].map(limit.read).join()).toBe('20,,,');
    expect(limit.hint).toContain('from 1 to 100');
    expect([decimal().read('2.5'), decimal().read('10k'), decimal().read('-1M')]).toEqual([
      2.5, 1e4, -1e6,
    ]);
  });

  it('names the choices', () => {
    expect(oneOf('bare', 'wrapped').read('bare')).toBe('bare');
    expect(oneOf('bare', 'wrapped').read('nude')).toBeUndefined();
    expect(oneOf('bare', 'wrapped').hint).toContain('bare, wrapped');
    expect(['true', 'false', 'yes', '__proto__'].map(onOff.read).join()).toBe('true,false,,');
  });

  it('reads shares as percent or fraction', () => {
    expect(['10%', '0.25', '150%', '-1%', '100%'].map(share.read).join()).toBe('0.1,0.25,,,1');
  });
});
