import type { Clock } from '../../base/clock.ts';
import { type Job, startJob } from '../job.ts';
import type { Timing } from '../timing.ts';

/**
 * Writes checkpoints while the tail runs. To write one, the checkpointer takes a snapshot of the state,
 * flushes the rows that were printed before the snapshot, and replaces the file.
 */
export interface Checkpointer {
  /** Marks the current checkpoint as outdated. */
  touch(): void;
  /** Starts writing a checkpoint if one is due; throws if the last attempt failed. */
  step(): void;
  readonly due: number;
  /** Whether a checkpoint was written, so that a later run can resume. */
  readonly safe: boolean;
  /** Writes the last checkpoint. All rows must have been written before. */
  end(): Promise<void>;
}

interface CheckpointerParts {
  readonly clock: Clock;
  readonly timing: Timing;
  readonly wake: () => void;
  /** The current checkpoint; undefined if there is no watermark yet. */
  readonly snapshot: () => string | undefined;
  readonly flush: () => Promise<boolean>;
  readonly save: (text: string) => Promise<void>;
}

/**
 * The maximum number of characters per millisecond that are written on average. Large checkpoints are
 * therefore written less often.
 */
const CHARACTERS_PER_MS = 200;

export function createCheckpointer(world: CheckpointerParts): Checkpointer {
  const { clock } = world;
  let dirty = false;
  let job: Job<void> | undefined;
  let next = clock.mono();
  let safe = false;

  const write = async (text: string) => {
    // Flush the rows first: a checkpoint must never include a row that could still be lost.
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
      next = clock.mono() + Math.max(world.timing.saveMs, text.length / CHARACTERS_PER_MS);
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
