import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Boundary, boundBelow } from '../../../src/core/pages/proof.ts';
import { check } from '../../output/check.ts';

describe('a boundary', () => {
  const reached = (marks: string) => {
    const boundary = new Boundary();
    for (const mark of marks) boundary.take(mark === 'o');
    return boundary;
  };

  test.each([
    ['', false],
    ['oo', false],
    ['ooo', true],
    ['oo.oo', false],
    ['oo.ooo', true],
    ['ooo.', true],
  ])('of the posts %j is reached: %s', (marks, isReached) => {
    expect(reached(marks).isReached).toBe(isReached);
  });

  test('counts the posts beyond it in a row', () => {
    expect(['', 'o', 'oo.', 'o.oo'].map((marks) => reached(marks).run)).toEqual([0, 1, 0, 2]);
  });
});

describe('the bound below a page', () => {
  test('is the newest of the last three post times, whatever one of them says', () => {
    const times = fc.array(fc.option(fc.integer({ min: 0, max: 50 })), { minLength: 1 });
    check(
      fc.property(times, (page) => {
        const dated = page.filter((at) => at !== null);
        const bound = boundBelow(page);
        const newest = dated.slice(-3).sort((one, other) => other - one)[0];
        expect(bound).toBe(newest);
      }),
    );
  });
});
