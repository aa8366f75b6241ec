import type { Clock } from '../../base/clock.ts';
import { type Job, startJob } from '../job.ts';
import type { Timing } from '../timing.ts';

/** Writes checkpoints beside the run: a snapshot, then a flush of what it stands for, then the file. */
export interface Checkpointer {
  /** Something has changed that a later run has to know. */
  touch(): void;
  /** Starts a checkpoint when one is due; throws when one failed. */
  step(): void;
  readonly due: number;
  /** A checkpoint has been written: a later run will not have to start over. */
  readonly safe: boolean;
  /** A last checkpoint; everything it stands for must have been written. */
  end(): Promise<void>;
}

interface KeeperWorld {
  readonly clock: Clock;
  readonly timing: Timing;
  readonly wake: () => void;
  /** The checkpoint as of now, or undefined while nothing is known. */
  readonly snapshot: () => string | undefined;
  readonly flush: () => Promise<boolean>;
  readonly save: (text: string) => Promise<void>;
}

/** Characters a second that checkpoints may write: on a fast feed they grow, and become rarer. */
const CHARACTERS_A_MS = 200;

export function createCheckpointer(world: KeeperWorld): Checkpointer {
  const { clock } = world;
  let dirty = false;
  let job: Job<void> | undefined;
  let next = clock.mono();
  let safe = false;

  const write = async (text: string) => {
    // The order is the promise: a checkpoint never stands for a row that could still be lost.
    if (!(await world.flush())) return;
    await world.save(text);
    safe = true;
  };

  const look = () => {
    const outcome = job?.outcome;
    if (!outcome) return;
    job = undefined;
    if ('error' in outcome) throw outcome.error;
  };

  return {
    touch() {
      dirty = true;
    },
    step() {
      look();
      if (!dirty || job || clock.mono() < next) return;
      const text = world.snapshot();
      if (text === undefined) return;
      dirty = false;
      next = clock.mono() + Math.max(world.timing.saveMs, text.length / CHARACTERS_A_MS);
      job = startJob(world.wake, () => write(text));
    },
    get due() {
      return dirty && !job ? next : Number.POSITIVE_INFINITY;
    },
    get safe() {
      return safe;
    },
    async end() {
      await job?.settled;
      look();
      const text = dirty ? world.snapshot() : undefined;
      if (text !== undefined) await write(text);
    },
  };
}
