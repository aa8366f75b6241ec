import { expect, test } from 'vitest';
import { createSearch } from '../../../src/core/pages/pattern-search.ts';

/** A pattern during whose first matches the process does not run for longer than the time limit. */
class Descheduled extends RegExp {
  times = 0;

  override test(text: string): boolean {
    this.times++;
    if (this.times <= 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
    return super.test(text);
  }
}

test('tries again if other programs used the time of a pattern', () => {
  const pattern = new Descheduled('^(a+)+$');
  const search = createSearch(pattern);
  expect(search('aab')).toBe(false);
  expect(pattern.times).toBe(3);
  expect(search('aaa')).toBe(true);
});
