import { judge } from './judge.ts';
import { type Schedule, scheduleOf } from './schedule.ts';
import { type Mutation, type Outcome, runSchedule } from './world.ts';

/** Runs schedules and returns those that fail, with their problems; stops after `enough` failures. */
export async function simulate(
  schedules: Iterable<Schedule>,
  mutation?: Mutation,
  enough = 5,
  look: (outcome: Outcome) => void = () => {},
  counts: (problem: string) => boolean = () => true,
): Promise<{ schedule: Schedule; problems: string[] }[]> {
  const failed: { schedule: Schedule; problems: string[] }[] = [];
  for (const schedule of schedules) {
    if (failed.length >= enough) break;
    const problems = await problemsOf(schedule, mutation, look).catch((error) => [error.stack]);
    if (problems.some(counts)) failed.push({ schedule, problems });
  }
  return failed;
}

async function problemsOf(
  schedule: Schedule,
  mutation: Mutation | undefined,
  look: (outcome: Outcome) => void,
) {
  const outcome = await runSchedule(schedule, mutation);
  look(outcome);
  return judge(outcome);
}

/** The schedules of a range of seeds. */
export function* seeds(from: number, to: number): Generator<Schedule> {
  for (let seed = from; seed < to; seed++) yield scheduleOf(seed);
}
