import fc from 'fast-check';
import { expect } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { codePoints } from '../code-points.ts';
import { repeats } from '../repeats.ts';

const seed = process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {};
const numRuns = repeats('FUZZ_RUNS', 20, 20_000);

/** Checks a property with many inputs; a failure prints its seed, and SEED repeats it. */
export const holds = <T extends [unknown, ...unknown[]]>(
  ...given: [...{ [I in keyof T]: fc.Arbitrary<T[I]> }, (...values: T) => void]
): void => fc.assert(fc.property(...given), { ...seed, numRuns });

/** The same for an asynchronous property. */
export const holdsInTime = <T extends [unknown, ...unknown[]]>(
  ...given: [...{ [I in keyof T]: fc.Arbitrary<T[I]> }, (...values: T) => Promise<void>]
): Promise<void> => fc.assert(fc.asyncProperty(...given), { ...seed, numRuns });

/** The result of a parser, or undefined if it threw a Failure; any other exception is a bug. */
export function read<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    refusedInWords(error);
    return undefined;
  }
}

/** The same for an asynchronous parser. */
export async function readInTime<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    refusedInWords(error);
    return undefined;
  }
}

function refusedInWords(error: unknown): void {
  if (!(error instanceof Failure)) throw error;
  expect(error.message).not.toBe('');
  expect(error.code).toMatch(/^\w+$/);
}

/** Values that are hard to parse. */
const odd = fc.constantFrom<unknown>(
  ...[null, true, '', '\u0000', '\ud800', '__proto__', 'constructor'],
  ...[0, -0, -1, 0.5, 1e300, -1e300, 2 ** 53, 8.64e15 + 1],
  ...[[], {}, [[]]],
);

/** Any JSON value whose members are named from `names`. */
export const jsonOf = (...names: readonly string[]): fc.Arbitrary<unknown> => {
  const key = fc.oneof(
    fc.constantFrom('__proto__', 'toString', ...names),
    fc.string({ maxLength: 4 }),
  );
  return fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      odd,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      codePoints(8),
      fc.array(tie('any'), { maxLength: 4 }),
      fc
        .array(fc.tuple(key, tie('any')), { maxLength: 6 })
        .map((pairs) => Object.fromEntries(pairs) as unknown),
    ),
  })).any;
};

/** Values of a shape with a part replaced, removed or added. */
export const damaged = (whole: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(whole, fc.array(fc.tuple(fc.nat(), odd, fc.nat(3)), { maxLength: 3 }))
    .map(([value, harms]) => {
      const copy: { it: unknown } = { it: structuredClone(value) };
      for (const [at, by, how] of harms) harm(copy, at, structuredClone(by), how);
      return copy.it;
    });

function harm(root: { it: unknown }, at: number, by: unknown, how: number): void {
  const places: { holder: Record<string, unknown>; name: string }[] = [];
  const visit = (holder: Record<string, unknown>, name: string) => {
    places.push({ holder, name });
    const value = holder[name];
    if (typeof value !== 'object' || value === null) return;
    for (const inner of Object.keys(value)) visit(value as Record<string, unknown>, inner);
  };
  visit(root, 'it');
  const place = places[at % places.length];
  if (!place) return;
  if (how === 0) delete place.holder[place.name];
  else if (how === 1) place.holder[`${place.name}x`] = by;
  else place.holder[place.name] = by;
}

/** Text as read from a disk or a network: complete, truncated, with changed bytes, or arbitrary. */
export const torn = (whole: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    whole,
    fc.tuple(whole, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))),
    fc.tuple(whole, fc.nat(), codePoints(3), fc.nat(4)).map(([text, at, by, out]) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + by + text.slice(from + out);
    }),
    codePoints(),
    fc.constantFrom(
      ...['', '\u0000', '\uFEFF', '\n\n', '"', '{', '['],
      ...['[[', '{"a":'].map((deep) => deep.repeat(5_000)),
    ),
  );

/** JSON text of a shape: valid, damaged or truncated. */
export const jsonText = (whole: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  torn(fc.oneof(whole, damaged(whole)).map((value) => JSON.stringify(value) ?? 'null'));
