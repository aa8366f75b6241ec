import { textOf } from '../base/json-object.ts';
import { numberOf } from '../contract/read-record.ts';
import type { CallerFigures } from '../contract/records/caller.ts';
import type { PageRow } from './pages/post.ts';
import { FEWEST_FOR_MEDIAN, medianOf, rounded } from './positions/summary.ts';

/** A call has held if the price is this many times that of its post. */
const HELD = 2;

/** The callouts of a wallet, newest first. */
export interface ReadCalls {
  readonly wallet: string;
  readonly calls: readonly PageRow[];
  /** Whether these are all that the service holds. */
  readonly isComplete: boolean;
}

/** What became of callouts. What is not known is null: a wallet without calls has no share of zero. */
export function callerFigures(
  { wallet, calls, isComplete }: ReadCalls,
  now: number,
): CallerFigures {
  const times = calls.flatMap(({ at }) => at ?? []).toSorted((one, other) => one - other);
  const multiples = numbersIn(calls, 'multiple');
  const best = numbersIn(calls, 'maxMultiplier');
  const held = multiples.filter((multiple) => multiple >= HELD).length;
  const age = middleOf(times.map((at) => now - at));
  const isFew = multiples.length < FEWEST_FOR_MEDIAN;
  return {
    wallet,
    userName: calls.map(({ record }) => textOf(record['userName'])).find((name) => name) ?? null,
    calls: calls.length,
    complete: isComplete,
    firstAt: times[0] ?? null,
    lastAt: times.at(-1) ?? null,
    medianAgeMs: age === null ? null : Math.round(age),
    priced: multiples.length,
    medianMultiple: middleOf(multiples),
    ...(isFew && multiples.length > 0 && { multiples }),
    atLeast2x: multiples.length === 0 ? null : held,
    shareAtLeast2x: isFew ? null : rounded(held / multiples.length),
    medianMaxMultiplier: middleOf(best),
    ...(best.length > 0 && best.length < FEWEST_FOR_MEDIAN && { maxMultipliers: best }),
  };
}

const numbersIn = (calls: readonly PageRow[], field: string): number[] =>
  calls.flatMap(({ record }) => numberOf(record[field]) ?? []);

/** Null if there are too few numbers. */
const middleOf = (numbers: readonly number[]): number | null =>
  numbers.length < FEWEST_FOR_MEDIAN ? null : medianOf(numbers);
