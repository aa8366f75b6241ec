import { judgeRelay } from './judge.ts';
import { type RelaySchedule, relayScheduleOf } from './schedule.ts';
import { createRelaySimulation, type RelayMutation } from './world.ts';

/** Runs schedules until `enough` of them failed, and returns what went wrong in those. */
export async function simulateRelays(
  schedules: Iterable<RelaySchedule>,
  mutation?: RelayMutation,
  enough = 1,
): Promise<{ readonly seed: number; readonly problems: readonly string[] }[]> {
  const failed: { seed: number; problems: readonly string[] }[] = [];
  for (const schedule of schedules) {
    if (failed.length >= enough) break;
    const simulation = createRelaySimulation(schedule, mutation);
    // Run everything that follows from an event before the next event.
    do await new Promise(setImmediate);
    while (simulation.step());
    const { error } = simulation;
    const problems =
      error === undefined
        ? judgeRelay(simulation.outcome)
        : [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    if (problems.length > 0) failed.push({ seed: schedule.seed, problems });
  }
  return failed;
}

export function* relaySeeds(from: number, to: number): Generator<RelaySchedule> {
  for (let seed = from; seed < to; seed++) yield relayScheduleOf(seed);
}
