import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import {
  createFilter,
  type FilterOptions,
  normalToken,
  readPattern,
} from '../../../src/core/pages/filter.ts';
import type { PostFields, TailRow } from '../../../src/tail/row.ts';

const EVM = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01';
const SOL = 'So11111111111111111111111111111111111111112';
const row = (record: PostFields): TailRow => ({ id: 'a', at: 0, record, raw: null });
const passes = (wanted: FilterOptions<TailRow>, record: PostFields) => createFilter(wanted)(row(record));

describe('a filter', () => {
  test('without conditions passes everything', () => {
    expect(passes({}, {})).toBe(true);
    expect(passes({}, { authorId: 'u', thesis: 'x' })).toBe(true);
    expect(passes({ tokens: [], symbols: [], devOnly: false }, { authorIsDev: false })).toBe(true);
  });

  test('matches any of the tokens: EVM addresses in any case, Solana addresses exactly', () => {
    const wanted = { tokens: [EVM, SOL] };
    expect(passes(wanted, { tokenAddress: EVM.toLowerCase() })).toBe(true);
    expect(passes(wanted, { tokenAddress: EVM.toUpperCase() })).toBe(true);
    expect(passes(wanted, { tokenAddress: SOL })).toBe(true);
    expect(passes(wanted, { tokenAddress: SOL.toLowerCase() })).toBe(false);
    for (const tokenAddress of [null, undefined, 7, '', 'x'])
      expect(passes(wanted, { tokenAddress })).toBe(false);
    expect(normalToken('0XAB')).toBe('0xab');
    expect(normalToken('A0xAB')).toBe('A0xAB');
  });

  test('matches the author by id', () => {
    expect(passes({ userId: 'u1' }, { authorId: 'u1' })).toBe(true);
    expect(passes({ userId: 'u1' }, { authorId: 'u2' })).toBe(false);
    expect(passes({ userId: 'u1' }, {})).toBe(false);
  });

  test('matches any of the symbols, in any case, with or without dollar signs', () => {
    const wanted = { symbols: ['$Bonk', 'wif'] };
    for (const tokenSymbol of ['BONK', 'bonk', 'WIF']) expect(passes(wanted, { tokenSymbol })).toBe(true);
    for (const tokenSymbol of ['$bonk', 'bon', null, 3]) expect(passes(wanted, { tokenSymbol })).toBe(false);
    expect(passes({ symbols: ['$$x'] }, { tokenSymbol: '$X' })).toBe(true);
  });

  test('matches holdings from a minimum, and no unknown holdings', () => {
    const wanted = { minHoldings: 10 };
    expect(passes(wanted, { holdingsUsd: 10 })).toBe(true);
    expect(passes(wanted, { holdingsUsd: 11 })).toBe(true);
    expect(passes(wanted, { holdingsUsd: 9.99 })).toBe(false);
    for (const holdingsUsd of [null, undefined, '11']) expect(passes(wanted, { holdingsUsd })).toBe(false);
    expect(passes({ minHoldings: 0 }, { holdingsUsd: -1 })).toBe(false);
    expect(passes({ minHoldings: -5 }, { holdingsUsd: null })).toBe(false);
  });

  test('matches posts of developers', () => {
    expect(passes({ devOnly: true }, { authorIsDev: true })).toBe(true);
    for (const authorIsDev of [false, null, undefined, 'true'])
      expect(passes({ devOnly: true }, { authorIsDev })).toBe(false);
  });

  test('matches a pattern in the text', () => {
    expect(passes({ grep: /moon/ }, { thesis: 'to the moon' })).toBe(true);
    expect(passes({ grep: /moon/ }, { thesis: 'to the sun' })).toBe(false);
    for (const thesis of [null, undefined, 5]) expect(passes({ grep: /moon/ }, { thesis })).toBe(false);
    expect(passes({ grep: /^$/ }, { thesis: null })).toBe(true);
  });

  test('drops posts that match an excluded pattern', () => {
    expect(passes({ exclude: /moon/ }, { thesis: 'to the moon' })).toBe(false);
    expect(passes({ exclude: /moon/ }, { thesis: 'to the sun' })).toBe(true);
    expect(passes({ exclude: /moon/ }, { thesis: null })).toBe(true);
    expect(passes({ grep: /to/, exclude: /sun/ }, { thesis: 'to the moon' })).toBe(true);
  });

  test('reads the symbol from the given field', () => {
    expect(passes({ symbols: ['$x'], symbolField: 'coinSymbol' }, { coinSymbol: 'X' })).toBe(true);
    expect(passes({ symbols: ['x'], symbolField: 'coinSymbol' }, { tokenSymbol: 'X' })).toBe(false);
  });

  test('passes a post that meets all conditions', () => {
    const wanted = { userId: 'u', symbols: ['x'], minHoldings: 1 };
    const record = { authorId: 'u', tokenSymbol: 'X', holdingsUsd: 1 };
    expect(passes(wanted, record)).toBe(true);
    for (const odd of [{ authorId: 'v' }, { tokenSymbol: 'Y' }, { holdingsUsd: 0 }])
      expect(passes(wanted, { ...record, ...odd })).toBe(false);
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
