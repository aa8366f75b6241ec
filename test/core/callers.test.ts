import { describe, expect, it } from 'vitest';
import { callerFigures } from '../../src/core/callers.ts';
import { pageRow } from '../../src/core/pages/post.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const HOUR = 3_600_000;

/** Callouts, one an hour, with these multiples now; the best one is twice as high. */
const callsWith = (multiples: readonly unknown[]) =>
  multiples.map((multiple, at) =>
    pageRow(
      {
        id: `c${at}`,
        wallet: 'w',
        userName: at === 1 ? 'mira' : null,
        createdAt: NOW - (at + 1) * HOUR,
        multiple,
        maxMultiplier: typeof multiple === 'number' ? 2 * multiple : multiple,
      },
      'createdAt',
    ),
  );
const figures = (multiples: readonly unknown[], isComplete = true) =>
  callerFigures({ wallet: 'w', calls: callsWith(multiples), isComplete }, NOW);

describe('the figures of a caller', () => {
  it.each([
    [[], { calls: 0, priced: 0, medianMultiple: null, atLeast2x: null, firstAt: null }],
    [[3], { calls: 1, priced: 1, medianMultiple: null, multiples: [3], atLeast2x: 1 }],
    [[2, 1.99, 0.1, 9], { medianMultiple: null, multiples: [2, 1.99, 0.1, 9], atLeast2x: 2 }],
    [[5, 1, 4, 2, 3], { medianMultiple: 3, atLeast2x: 4, shareAtLeast2x: 0.8 }],
    [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], { medianMultiple: 0.35, medianMaxMultiplier: 0.7 }],
    [
      [1, null, 2, undefined, 3, 'soon', 4],
      { calls: 7, priced: 4, medianMultiple: null, multiples: [1, 2, 3, 4], shareAtLeast2x: null },
    ],
  ])('of callouts with the multiples %j', (multiples, expected) => {
    expect(figures(multiples)).toMatchObject(expected);
  });

  it('state when the callouts were posted, and whether they are all', () => {
    expect(figures([1, 1, 1, 1, 1, 1], false)).toMatchObject({
      userName: 'mira',
      complete: false,
      firstAt: NOW - 6 * HOUR,
      lastAt: NOW - HOUR,
      medianAgeMs: 3.5 * HOUR,
    });
    expect(figures([1, 1, 1, 1]).medianAgeMs).toBeNull();
    expect(figures([1, 1, 1, 1, 1])).not.toHaveProperty('multiples');
  });
});
