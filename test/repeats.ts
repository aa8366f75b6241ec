/** Set by `npm run soak`, which repeats the random tests long and runs the files `*.soak.ts` as well. */
export const isSoak = process.env['SOAK'] === '1';

/** Cases of a table: some of them, always the same, in `npm test`, all in `npm run soak`. */
export function some<T>(cases: readonly T[], count: number): readonly T[] {
  if (isSoak || count >= cases.length) return cases;
  return Array.from(
    { length: count },
    (_, at) => cases[Math.floor((at * cases.length) / count)] as T,
  );
}

/** How often a random test repeats: a few times in `npm test`, many in `npm run soak`. The variable overrides both. */
export const repeats = (variable: string, few: number, many: number): number =>
  Number(process.env[variable] ?? (isSoak ? many : few));

/** The seed of the first random run: chosen at random, unless SEED repeats one. */
export const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** The seeds of so many random runs. */
export const seedsOf = (runs: number): readonly number[] =>
  Array.from({ length: runs }, (_, run) => SEED + run);

const LATEST_MS = 2 ** 31 - 1;

/** The timeout of a test that repeats something: minutes where seconds are enough, as no test is about speed. */
export const timeoutFor = (repetitions: number): { timeout: number } => ({
  timeout: Math.min(LATEST_MS, 120_000 + repetitions * 60_000),
});
