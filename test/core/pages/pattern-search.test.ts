import { expect, test } from 'vitest';
import { createSearch } from '../../../src/core/pages/pattern-search.ts';

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
