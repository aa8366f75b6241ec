import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { repeats, timeoutFor } from '../repeats.ts';
import { seeds, simulate } from './run.ts';
import { type Schedule, scheduleOf, uneventful } from './schedule.ts';

/** The number of schedules; `SIM_SEEDS=1000000` runs more, `FROM=n` others, `SEED=n` repeats one. */
const SEEDS = repeats('SIM_SEEDS', 30, 6_000);
const FROM = Number(process.env['FROM'] ?? 0);
const one = process.env['SEED'];

/** The parameters that a schedule may also have as in a run without events. */
const simplified = [
  ...([
    'odd',
    'nameless',
    'answer',
    'pings',
    'repeats',
    'old',
    'vanish',
    'late',
    'behindMs',
  ] as const),
  ...(['sifted', 'timeless', 'twenty', 'skew', 'start'] as const),
];

test(
  'with any faults, every post is written exactly once, and every gap is reported',
  timeoutFor(SEEDS),
  async () => {
    const schedules = one === undefined ? seeds(FROM, FROM + SEEDS) : [scheduleOf(Number(one))];
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
  },
);

/** Simpler variants of a schedule, the simplest first. */
function* simpler(schedule: Schedule): Generator<Schedule> {
  const { faults, kills } = schedule;
  for (let i = 0; i < faults.length; i++) yield { ...schedule, faults: faults.toSpliced(i, 1) };
  for (let i = kills.length - 1; i >= 0; i--) yield { ...schedule, kills: kills.slice(0, i) };
  if (schedule.bursts > 0) yield { ...schedule, bursts: schedule.bursts - 1 };
  if (schedule.busyMs > 30_000) yield { ...schedule, busyMs: schedule.busyMs / 2 };
  if (schedule.rate > 0.02) yield { ...schedule, rate: schedule.rate / 2 };
  for (const name of simplified)
    if (schedule[name] !== uneventful[name]) yield { ...schedule, [name]: uneventful[name] };
}

/** Simplifies a failing schedule as long as it still fails. */
async function shrink(schedule: Schedule, tries = 300): Promise<Schedule> {
  let left = tries;
  let best = schedule;
  for (let found = true; found && left > 0; ) {
    found = false;
    for (const next of simpler(best)) {
      if (--left <= 0) break;
      if ((await simulate([next])).length === 0) continue;
      best = next;
      found = true;
      break;
    }
  }
  return best;
}
