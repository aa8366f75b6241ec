import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { seeds, simulate } from './run.ts';
import { scheduleOf } from './schedule.ts';
import { shrink } from './shrink.ts';

/** The number of schedules; `SIM_SEEDS=1000000` runs more, `SEED=n` repeats one. */
const SEEDS = Number(process.env['SIM_SEEDS'] ?? 1_000);
const one = process.env['SEED'];

test('with any faults, every post is written exactly once, and every gap is reported', {
  timeout: Math.max(600_000, SEEDS * 60),
}, async () => {
  const schedules = one === undefined ? seeds(0, SEEDS) : [scheduleOf(Number(one))];
  const [failed] = await simulate(schedules, undefined, 1);
  if (!failed) return;
  const { seed } = failed.schedule;
  const folder = new URL('./cases/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    new URL(`${seed}.json`, folder),
    `${JSON.stringify(await shrink(failed.schedule), null, 2)}\n`,
  );
  expect.fail(
    `SEED=${seed} breaks the promise:\n${failed.problems.slice(0, 10).join('\n')}\nsaved as test/sim/cases/${seed}.json`,
  );
});
