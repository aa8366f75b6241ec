import { judgeRelay } from './judge.ts';
import { type RelaySchedule, relayScheduleOf } from './schedule.ts';
import { type RelayMutation, runRelaySchedule } from './world.ts';

/** Runs schedules until `enough` of them failed, and returns what went wrong in those. */
export async function simulateRelays(
  schedules: Iterable<RelaySchedule>,
  mutation?: RelayMutation,
  enough = 1,
): Promise<{ readonly seed: number; readonly problems: readonly string[] }[]> {
  const failed: { seed: number; problems: readonly string[] }[] = [];
  for (const schedule of schedules) {
    if (failed.length >= enough) break;
    const problems = await runRelaySchedule(schedule, mutation).then(judgeRelay, (error) => [error.stack]);
    if (problems.length > 0) failed.push({ seed: schedule.seed, problems });
  }
  return failed;
}

export function* relaySeeds(from: number, to: number): Generator<RelaySchedule> {
  for (let seed = from; seed < to; seed++) yield relayScheduleOf(seed);
}
