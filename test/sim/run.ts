import { judge } from './judge.ts';
import { type Schedule, scheduleOf } from './schedule.ts';
import { createSimulation, type Mutation } from './world.ts';

/** Simulations that take turns: one pass through the event loop lets each of them go on by one event. */
const SIDE_BY_SIDE = 8;

/** What is wrong with each schedule, by its place; schedules without a problem are left out. */
export async function simulate(
  schedules: Iterable<Schedule>,
  mutation?: Mutation,
  enough = 5,
): Promise<{ schedule: Schedule; problems: string[] }[]> {
  const failed: { schedule: Schedule; problems: string[] }[] = [];
  const queue = schedules[Symbol.iterator]();
  const lane = async () => {
    for (let next = queue.next(); !next.done && failed.length < enough; next = queue.next()) {
      const schedule = next.value;
      const simulation = createSimulation(schedule, mutation);
      // Everything that follows from an event is done before the next one happens.
      do await new Promise(setImmediate);
      while (simulation.step());
      const { error } = simulation;
      const problems =
        error === undefined
          ? judge(simulation.outcome)
          : [error instanceof Error ? (error.stack ?? error.message) : String(error)];
      if (problems.length > 0) failed.push({ schedule, problems });
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return failed;
}

/** The schedules of a range of seeds. */
export function* seeds(from: number, to: number): Generator<Schedule> {
  for (let seed = from; seed < to; seed++) yield scheduleOf(seed);
}
