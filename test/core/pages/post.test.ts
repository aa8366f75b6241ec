import { expect, test } from 'vitest';
import { pageRow, withoutFutureTimes } from '../../../src/core/pages/post.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

/** The times that are used of a page whose posts are so many days ahead of the clock. */
const timesOf = (daysAhead: readonly number[], doubtsClock = true) =>
  withoutFutureTimes(
    daysAhead.map((days, id) =>
      pageRow({ id: `${id}`, platformCreatedAt: NOW + days * DAY }, 'platformCreatedAt'),
    ),
    NOW,
    doubtsClock,
  ).map(({ at }) => (at === null ? null : (at - NOW) / DAY));

test.each<[string, number[], (number | null)[]]>([
  ['a day ahead may be the clock', [1, 0], [1, 0]],
  ['one post of one that is far ahead has no time', [30], [null]],
  ['two of two have none', [30, 30], [null, null]],
  ['three of six have none', [30, 30, 30, 0, 0, 0], [null, null, null, 0, 0, 0]],
  ['three of five show that the clock is wrong', [30, 30, 30, 0, 0], [30, 30, 30, 0, 0]],
])('%s', (_, daysAhead, used) => {
  expect(timesOf(daysAhead)).toEqual(used);
});

test('a reader that does not doubt its clock uses no time that is far ahead', () => {
  expect(timesOf([30, 30, 30, 1, 0], false)).toEqual([null, null, null, 1, 0]);
});
