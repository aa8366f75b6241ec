import type { AuthorPosition, PositionsSummary } from '../../contract/records/position.ts';

/** The median of fewer values would hide that they are few. */
const FEWEST_FOR_MEDIAN = 5;

/** What positions amount to. Those that are closed and those that are open are never in one sum. */
export function summaryOf(positions: readonly AuthorPosition[]): PositionsSummary {
  const closed = positions.filter(({ status }) => status === 'closed');
  const open = positions.filter(({ status }) => status === 'open');
  return {
    closed: closedSummary(closed),
    open: openSummary(open),
    unknownStatus: positions.length - closed.length - open.length,
    tradeMedianUsd: medianOf(numbersOf(positions, 'tradeUsd')),
    tokens: new Set(positions.map(({ token }) => token)).size,
    networks: [...new Set(positions.flatMap(({ network }) => network ?? []))].sort(),
  };
}

function closedSummary(positions: readonly AuthorPosition[]): PositionsSummary['closed'] {
  const results = positions
    .flatMap(({ token, symbol, pnlUsd }) => (pnlUsd === null ? [] : [{ token, symbol, pnlUsd }]))
    .sort((one, other) => other.pnlUsd - one.pnlUsd || (one.token < other.token ? -1 : 1));
  const values = results.map(({ pnlUsd }) => pnlUsd);
  const result = middleOf(values);
  const held = middleOf(numbersOf(positions, 'heldMs').toSorted((one, other) => one - other));
  const sumUsd = sumOf(values);
  const largest = values.reduce((most, pnl) => (Math.abs(pnl) > Math.abs(most) ? pnl : most), 0);
  return {
    positions: positions.length,
    won: values.filter((pnl) => pnl > 0).length,
    lost: values.filter((pnl) => pnl < 0).length,
    unknown: positions.length - values.length,
    sumUsd,
    meanUsd: sumUsd === null ? null : amountOf(sumUsd / values.length),
    medianUsd: result.median,
    ...(result.few && { valuesUsd: result.few }),
    best: results[0] ?? null,
    worst: results.at(-1) ?? null,
    largestShare: sumUsd ? rounded(largest / sumUsd) : null,
    heldMedianMs: held.median,
    ...(held.few && { heldValuesMs: held.few }),
  };
}

function openSummary(positions: readonly AuthorPosition[]): PositionsSummary['open'] {
  const values = numbersOf(positions, 'pnlUsd');
  return {
    positions: positions.length,
    unknown: positions.length - values.length,
    runningSumUsd: sumOf(values),
  };
}

const numbersOf = (
  positions: readonly AuthorPosition[],
  field: 'pnlUsd' | 'tradeUsd' | 'heldMs',
): readonly number[] => positions.flatMap((position) => position[field] ?? []);

/**
 * The sum does not depend on the order of the numbers. Null without any: the sum of what is not
 * known is not known.
 */
const sumOf = (numbers: readonly number[]): number | null =>
  numbers.length === 0
    ? null
    : amountOf(numbers.toSorted((one, other) => one - other).reduce((sum, each) => sum + each, 0));

/** The median of numbers, or the numbers if they are too few for one. */
export const middleOf = (numbers: number[]) =>
  numbers.length < FEWEST_FOR_MEDIAN
    ? { median: null, few: numbers }
    : { median: medianOf(numbers) };

function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((one, other) => one - other);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? null : rounded((lower + upper) / 2);
}

/** An amount in USD without the noise of a sum, such as 3e-17 in place of 0, and without -0. */
const amountOf = (usd: number): number => Number(usd.toFixed(6)) + 0;

/** Removes the noise of binary fractions: 0.1 + 0.2 is 0.3. */
export const rounded = (value: number): number => Number(value.toPrecision(15));
