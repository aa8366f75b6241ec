import { expect, test } from 'vitest';
import { repeats, timeoutFor } from '../repeats.ts';
import { rngOf } from './rng.ts';
import { simulate } from './run.ts';
import { calm, type ExecSchedule, type Schedule, scheduleOf } from './schedule.ts';
import type { Process } from './world.ts';

const COUNT = repeats('SIM_SEEDS', 3, 1_000);
const FIRST = Number(process.env['SEED'] ?? 0);
const seeds = Array.from(
  { length: process.env['SEED'] === undefined ? COUNT : 1 },
  (_, i) => FIRST + i,
);

/** A schedule whose posts are handed over to a command that is slow and fails, in a process that is killed often. */
function execSchedule(seed: number, flaw?: ExecSchedule['flaw']): Schedule {
  const base = scheduleOf(seed);
  const rng = rngOf(seed, 77);
  return {
    ...base,
    resume: 'checkpoint',
    kills: Array.from({ length: 1 + rng.int(5) }, () => 1 + rng.int(rng.chance(0.5) ? 40 : 400)),
    exec: {
      batch: rng.pick([1, 1, 2, 5, 100]),
      lingerMs: rng.pick([0, 0, 500, 5_000, 60_000]),
      tries: rng.pick([1, 3, 10, Number.POSITIVE_INFINITY]),
      fails: rng.pick([0, 0.05, 0.3]),
      slowMs: rng.pick([1, 50, 2_000, 20_000]),
      untilMs: base.busyMs,
      ...(flaw && { flaw }),
    },
  };
}

test(
  `${COUNT} schedules hand every post over, and repeat only the batch that was not acknowledged`,
  timeoutFor(COUNT),
  async () => {
    let batches = 0;
    const count = (processes: readonly Process[]) => {
      batches += processes.reduce((sum, { writes }) => sum + writes.length, 0);
    };
    const [failed] = await simulate(
      seeds.map((seed) => execSchedule(seed)),
      undefined,
      1,
      ({ processes }) => count(processes),
    );
    expect(failed?.problems.slice(0, 10), `SEED=${failed?.schedule.seed}`).toBe(undefined);
    process.stderr.write(`handed over ${batches} batches in ${seeds.length} schedules\n`);
  },
);

test('if a command is slower than the feed, the tail closes the socket and reads the missed posts from pages', async () => {
  const busyMs = 1_800_000;
  const schedule = calm(1, {
    ...{ resume: 'checkpoint', lagMs: execSchedule(1).lagMs, rate: 0.5, busyMs },
    exec: { batch: 5, lingerMs: 0, tries: 1, fails: 0, slowMs: 900_000, untilMs: busyMs - 900_000 },
  });
  const reasons: unknown[] = [];
  const failed = await simulate([schedule], undefined, 1, ({ processes }) => {
    for (const notice of processes.flatMap(({ notices }) => notices))
      if (notice.kind === 'down') reasons.push(notice.why);
  });
  expect(failed).toEqual([]);
  expect(reasons).toContain('blocked');
  expect(reasons).not.toContain('overflow');
});

// The first seed is a little below one in which the missing safeguard is noticed.
test.each([
  ['forgets', 0],
  ['skips', 0],
  ['early', 0],
  ['no start', 110],
] as const)('notices a missing safeguard: %s', async (flaw, from) => {
  const schedules = Array.from({ length: 200 }, (_, at) => execSchedule(from + at, flaw));
  expect(await simulate(schedules, undefined, 1)).not.toEqual([]);
});
