import { expect, test } from 'vitest';
import { inOrderOf } from '../../../src/cli/lists/row-order.ts';
import { sortBy } from '../../../src/core/pages/sort.ts';
import { SEED } from '../../repeats.ts';
import { rngOf } from '../../sim/rng.ts';

// More rows than are sorted at once, many of which are equal or have no value.
const dice = rngOf(SEED);
const rows = Array.from({ length: 2_500 }, (_, id) => ({
  id,
  pnl: dice.chance(0.1) ? null : dice.int(40),
}));

async function* failing() {
  yield* rows;
  throw new Error('the page failed');
}

const orders = [undefined, 1, 7, 2_000].flatMap((best) =>
  [false, true].flatMap((reverse) => [undefined, 'pnl'].map((sort) => ({ sort, reverse, best }))),
);

test.each(orders)(`the best rows are those of all rows: %j (SEED=${SEED})`, async (order) => {
  const { sort, reverse, best } = order;
  const unsorted = reverse ? rows.toReversed() : rows;
  const expected = (sort === undefined ? unsorted : sortBy(rows, sort, reverse)).slice(0, best);
  const printed: unknown[] = [];
  for await (const row of inOrderOf(order, rows)) printed.push(row);
  expect(printed).toEqual(expected);
  const before: unknown[] = [];
  const read = async () => {
    for await (const row of inOrderOf(order, failing(), () => new Error('continued')))
      before.push(row);
  };
  await expect(read()).rejects.toThrow('continued');
  expect(before).toEqual(expected);
});

test.each([
  [false, [7, -1, '99', null]],
  [true, [-1, 7, '99', null]],
])('texts come behind the numbers: reversed %s', (reverse, expected) => {
  const odd = ['99', null, 7, -1].map((pnl) => ({ pnl }));
  expect(sortBy(odd, 'pnl', reverse).map(({ pnl }) => pnl)).toEqual(expected);
});
