import { expect, test } from 'vitest';
import { createSearch, highlightOf } from '../../../src/core/pages/pattern-search.ts';

/** A pattern whose first two matches exceed the time limit, as if the process had been suspended meanwhile. */
class Descheduled extends RegExp {
  times = 0;

  override test(text: string): boolean {
    this.times++;
    if (this.times <= 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
    return super.test(text);
  }
}

test('tries a pattern again if it may have exceeded its time because other programs ran', () => {
  const pattern = new Descheduled('^(a+)+$');
  const search = createSearch(pattern);
  expect(search('aab')).toBe(false);
  expect(pattern.times).toBe(3);
  expect(search('aaa')).toBe(true);
});

test.each([
  'a?'.repeat(24),
  'a??'.repeat(24),
  '(a|a)'.repeat(24),
  '(?:a|ab|)'.repeat(16),
  '((a|b)|(a|b))'.repeat(8),
  '(a?|b?)'.repeat(16),
  '.*a.*',
  'a+a+a+',
  'a{1,9}'.repeat(9),
  'a*(b|c|d)(b|c|d)',
  '(a+)+',
  '(a|a)*',
  '(a?){24}',
  '(?=a*)a',
  '(a*)\\1',
  '(?<x>a)\\k<x>',
  '[(]a?'.repeat(24),
])('searches with a time limit, and does not highlight: %s', (source) => {
  expect(highlightOf(new RegExp(`${source}$`, 'u'))).toBeUndefined();
});

test.each([
  'moon',
  'KOALA|WOLF|PEPE|BONK|DOGE|MOON|SEND|PUMP|DUMP|HOLD|SELL|BUY|LONG|SHORT',
  '\\b(KOALA|WOLF|PEPE|BONK|DOGE|MOON|SEND|PUMP|DUMP|HOLD|SELL|BUY|LONG)\\b',
  '(?:a|b)(c|d)e',
  'sells? (now|soon)',
  'https?://.*',
  '\\$\\d+?',
  '[*+?{|]{2}',
  '\\*\\?\\+\\(\\|\\)',
  'a??b?',
])('searches without one, and highlights: %s', (source) => {
  const pattern = new RegExp(source, 'u');
  expect(highlightOf(pattern)).toBe(pattern);
});
