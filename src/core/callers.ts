import { textOf } from '../base/json-object.ts';
import { numberOf, type Sent } from '../contract/read-record.ts';
import type { CallerFigures } from '../contract/records/caller.ts';
import { postTimeOf } from './pages/post.ts';

/** The median of fewer values would hide that they are few. */
const FEWEST = 5;
/** A call has held if the price is this many times that of its post. */
const HELD = 2;

/** The callouts of a wallet, newest first. */
export interface ReadCalls {
  readonly wallet: string;
  readonly calls: readonly Sent[];
  /** Whether these are all that the service holds. */
  readonly isComplete: boolean;
}

/** What became of callouts. What is not known is null: a wallet without calls has no share of zero. */
export function callerFigures(
  { wallet, calls, isComplete }: ReadCalls,
  now: number,
): CallerFigures {
  const times = calls.flatMap(({ createdAt }) => postTimeOf(createdAt) ?? []).toSorted(ascending);
  const multiples = numbersIn(calls, 'multiple');
  const best = numbersIn(calls, 'maxMultiplier');
  const held = multiples.filter((multiple) => multiple >= HELD).length;
  const age = medianOf(times.map((at) => now - at));
  const isFew = multiples.length < FEWEST;
  return {
    wallet,
    userName: calls.map(({ userName }) => textOf(userName)).find((name) => name) ?? null,
    calls: calls.length,
    complete: isComplete,
    firstAt: times[0] ?? null,
    lastAt: times.at(-1) ?? null,
    medianAgeMs: age === null ? null : Math.round(age),
    priced: multiples.length,
    medianMultiple: medianOf(multiples),
    ...(isFew && multiples.length > 0 && { multiples }),
    atLeast2x: multiples.length === 0 ? null : held,
    shareAtLeast2x: isFew ? null : rounded(held / multiples.length),
    medianMaxMultiplier: medianOf(best),
    ...(best.length > 0 && best.length < FEWEST && { maxMultipliers: best }),
  };
}

const numbersIn = (calls: readonly Sent[], field: string): number[] =>
  calls.flatMap((call) => numberOf(call[field]) ?? []);

const ascending = (one: number, other: number): number => one - other;

/** Null if there are too few numbers. */
function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted(ascending);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (sorted.length < FEWEST || upper === undefined || lower === undefined) return null;
  return rounded((lower + upper) / 2);
}

/** Without the noise of binary fractions: 0.1 + 0.2 is 0.3. */
const rounded = (value: number): number => Number(value.toPrecision(12));
