import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { seeds, simulate } from './run.ts';
import { scheduleOf } from './schedule.ts';
import { shrink } from './shrink.ts';

/** The number of schedules; `SIM_SEEDS=1000000` runs more, `SEED=n` repeats one. */
const SEEDS = Number(process.env['SIM_SEEDS'] ?? 1_000);
const SHARES = 2;
export const TIMEOUT_MS = Math.max(600_000, SEEDS * 60);

/** Runs one share of the schedules. A failing one is shrunk and saved as a case. */
export async function checkPromise(share: number): Promise<void> {
  const one = process.env['SEED'];
  const each = Math.ceil(SEEDS / SHARES);
  const schedules = one === undefined ? seeds(share * each, (share + 1) * each) : [scheduleOf(Number(one))];
  const [failed] = await simulate(schedules, undefined, 1);
  if (!failed) return;
  const { seed } = failed.schedule;
  const smallest = await shrink(failed.schedule);
  const folder = new URL('./cases/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${seed}.json`, folder), `${JSON.stringify(smallest, null, 2)}\n`);
  expect.fail(
    `SEED=${seed} breaks the promise:\n${failed.problems.slice(0, 10).join('\n')}\nsaved as test/sim/cases/${seed}.json`,
  );
}
