import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import {
  createFilter,
  type FilterOptions,
  normalToken,
  readPattern,
} from '../../../src/core/pages/filter.ts';
import type { PostFields, TailRow } from '../../../src/tail/post-row.ts';

const EVM = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01';
const SOL = 'So11111111111111111111111111111111111111112';

const passes = (wanted: FilterOptions<TailRow>, record: PostFields) =>
  createFilter(wanted)({ id: 'a', at: 0, record, raw: null });

describe('a filter', () => {
  test.each<[string, FilterOptions<TailRow>, keyof PostFields, unknown[], unknown[]]>([
    ['no', { tokens: [], symbol: [], devOnly: false }, 'authorIsDev', [false], []],
    ['EVM', { tokens: [EVM] }, 'tokenAddress', [EVM.toLowerCase(), EVM.toUpperCase()], ['x', '']],
    [
      'Solana',
      { tokens: [EVM, SOL] },
      'tokenAddress',
      [SOL],
      [SOL.toLowerCase(), null, undefined, 7],
    ],
    ['author', { users: ['U1', 'u3'] }, 'authorId', ['u1', 'U3'], ['u2', undefined]],
    [
      'symbol',
      { symbol: ['$Bonk', 'wif'] },
      'tokenSymbol',
      ['BONK', 'bonk', '$bonk', 'WIF'],
      ['bon', null, 3],
    ],
    ['field', { symbol: ['$x'], symbolField: 'coinSymbol' }, 'coinSymbol', ['X'], ['y']],
    ['holdings', { minHoldings: 10 }, 'holdingsUsd', [10, 11], [9.99, null, undefined, '11']],
    ['negative', { minHoldings: -5 }, 'holdingsUsd', [-1], [-6, null]],
    ['trade', { minTrade: 10 }, 'authorTradeUsd', [10], [9, null, undefined, '11']],
    ['likes', { minLikes: 3 }, 'likeCount', [3], [2, null, undefined, '4']],
    ['open', { open: true }, 'closedAt', [null], [1, undefined, 'no']],
    ['closed', { closed: true }, 'closedAt', [1], [null, undefined, 'yes']],
    ['chain', { network: ['Sol', 'base'] }, 'tokenNetwork', ['sol', 'BASE'], ['eth', null, 1]],
    ['chain field', { network: ['sol'], networkField: 'chain' }, 'chain', ['sol'], ['eth']],
    ['developer', { devOnly: true }, 'authorIsDev', [true], [false, null, undefined, 'true']],
    ['grep', { grep: /moon/ }, 'thesis', ['to the moon'], ['to the sun', null, undefined, 5]],
    ['empty grep', { grep: /^$/ }, 'thesis', [null], []],
    ['exclude', { exclude: /moon/ }, 'thesis', ['to the sun', null], ['to the moon']],
  ])('passes what meets its condition: %s', (_, wanted, field, passed, dropped) => {
    expect(passed.filter((value) => !passes(wanted, { [field]: value }))).toEqual([]);
    expect(dropped.filter((value) => passes(wanted, { [field]: value }))).toEqual([]);
  });

  test('passes a post that meets all conditions', () => {
    const wanted = { users: ['u'], symbol: ['x'], minHoldings: 1 };
    const record = { authorId: 'u', tokenSymbol: 'X', holdingsUsd: 1 };
    expect(passes(wanted, record)).toBe(true);
    for (const odd of [{ authorId: 'v' }, { tokenSymbol: 'Y' }, { holdingsUsd: 0 }])
      expect(passes(wanted, { ...record, ...odd })).toBe(false);
    expect([normalToken('0XAB'), normalToken('A0xAB')]).toEqual(['0xab', 'A0xAB']);
  });
});

describe('a pattern', () => {
  test('in lower case matches any case, and one with a capital matches exactly', () => {
    expect(readPattern('moon').test('To The MOON')).toBe(true);
    expect(readPattern('Moon').test('moon')).toBe(false);
    expect(readPattern('Moon').test('Moon')).toBe(true);
  });

  test('treats characters beyond the basic plane as one', () => {
    expect(readPattern('^.$').test('💬')).toBe(true);
    expect(readPattern('^A?.$').test('💬')).toBe(true);
  });

  test('is rejected with the reason if it is invalid', () => {
    expect(() => readPattern('(')).toThrow(Failure);
    expect(() => readPattern('(')).toThrow(/^invalid pattern "\(": .*nterminated/);
  });
});
