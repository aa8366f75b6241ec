import { judge } from './judge.ts';
import { type Schedule, scheduleOf } from './schedule.ts';
import { createSimulation, type Mutation, type Outcome } from './world.ts';

/** The number of interleaved simulations: in each turn of the event loop, each of them handles one event. */
const INTERLEAVED = 8;

/** Runs schedules and returns those that fail, with their problems; stops after `enough` failures. */
export async function simulate(
  schedules: Iterable<Schedule>,
  mutation?: Mutation,
  enough = 5,
  look: (outcome: Outcome) => void = () => {},
  counts: (problem: string) => boolean = () => true,
): Promise<{ schedule: Schedule; problems: string[] }[]> {
  const failed: { schedule: Schedule; problems: string[] }[] = [];
  const queue = schedules[Symbol.iterator]();
  const lane = async () => {
    for (let next = queue.next(); !next.done && failed.length < enough; next = queue.next()) {
      const schedule = next.value;
      const simulation = createSimulation(schedule, mutation);
      // Completes everything that follows from an event before the next event.
      do await new Promise(setImmediate);
      while (simulation.step());
      const { error } = simulation;
      look(simulation.outcome);
      const problems =
        error === undefined
          ? judge(simulation.outcome).filter(counts)
          : [error instanceof Error ? (error.stack ?? error.message) : String(error)];
      if (problems.length > 0) failed.push({ schedule, problems });
    }
  };
  await Promise.all(Array.from({ length: INTERLEAVED }, lane));
  return failed;
}

/** The schedules of a range of seeds. */
export function* seeds(from: number, to: number): Generator<Schedule> {
  for (let seed = from; seed < to; seed++) yield scheduleOf(seed);
}
