/** Runs a campaign from its first seed on, some runs side by side. If SEED repeats a run, it is the only one. */
export async function runSideBySide(
  [first, runs]: readonly [first: number, runs: number],
  lanes: number,
  run: (seed: number) => Promise<void>,
): Promise<void> {
  const left = process.env['SEED'] === undefined ? runs : 1;
  const seeds = Array.from({ length: left }, (_, at) => first + at);
  const lane = async () => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) await run(seed);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
