import { textOf } from '../base/json-object.ts';
import { numberOf } from '../contract/read-record.ts';
import type { CallerFigures } from '../contract/records/caller.ts';
import type { PageRow } from './pages/post.ts';
import { stretchOf } from './positions/positions.ts';
import { middleOf, rounded } from './positions/summary.ts';

/** A call has held if the price is this many times that of its post. */
const HELD = 2;

/** The callouts of a wallet, newest first. */
export interface ReadCalls {
  readonly wallet: string;
  readonly calls: readonly PageRow[];
  /** Whether these are all that the service holds. */
  readonly isComplete: boolean;
}

/**
 * What became of callouts. What is not known is null: a wallet without calls has no share of zero.
 */
export function callerFigures(
  { wallet, calls, isComplete }: ReadCalls,
  now: number,
): CallerFigures {
  const { from: firstAt, to: lastAt } = stretchOf(calls);
  const multiples = numbersIn(calls, 'multiple');
  const best = middleOf(numbersIn(calls, 'maxMultiplier'));
  const held = multiples.filter((multiple) => multiple >= HELD).length;
  const { median: age } = middleOf(calls.flatMap(({ at }) => (at === null ? [] : now - at)));
  return {
    wallet,
    userName: calls.map(({ record }) => textOf(record['userName'])).find((name) => name) ?? null,
    calls: calls.length,
    complete: isComplete,
    firstAt,
    lastAt,
    medianAgeMs: age === null ? null : Math.round(age),
    priced: multiples.length,
    ...multiplesNow(calls),
    atLeast2x: multiples.length === 0 ? null : held,
    shareAtLeast2x: middleOf(multiples).few ? null : rounded(held / multiples.length),
    medianMaxMultiplier: best.median,
    ...(best.few?.length && { maxMultipliers: best.few }),
  };
}

/** How the prices have moved since callouts: the median, or the values if they are few. */
export function multiplesNow(
  calls: readonly PageRow[],
): Pick<CallerFigures, 'medianMultiple' | 'multiples'> {
  const { median, few } = middleOf(numbersIn(calls, 'multiple'));
  return { medianMultiple: median, ...(few?.length && { multiples: few }) };
}

const numbersIn = (calls: readonly PageRow[], field: string): number[] =>
  calls.flatMap(({ record }) => numberOf(record[field]) ?? []);
