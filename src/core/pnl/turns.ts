import type { Clock } from '../../base/clock.ts';
import { BATCH_MAX } from '../../contract/limits.ts';
import type { PnlResult } from './batches.ts';
import type { NumbersClaim, SavedNumbers } from './saved-numbers.ts';

export interface TurnsOptions {
  /** The positions to be requested, in their order. */
  readonly todo: readonly number[];
  readonly handleAt: (position: number) => string;
  readonly saved: SavedNumbers | undefined;
  readonly clock: Pick<Clock, 'mono' | 'sleep'>;
}

/** What happens next: a batch of this machine, and answers that another machine has got. */
export interface Turn {
  readonly positions: readonly number[];
  readonly here: readonly PnlResult[];
  /** Ends the claims of the batch, whatever came of it. */
  readonly end: () => Promise<void>;
}

/** The batches of a run. Handles that another machine is requesting are left to it, and their answers taken from the store. */
export interface Turns {
  /** Up to `size` handles. */
  next(size: number, signal?: AbortSignal): Promise<Turn>;
  /** These were answered, or are lost. */
  done(positions: readonly number[]): void;
  /** The positions without an answer. */
  left(): readonly number[];
  /** How many they are. */
  readonly size: number;
}

/** Longer than any call takes; after that this machine requests the handle itself. */
const PATIENCE_MS = 120_000;
const POLL_MS = 100;

export function createTurns({ todo, handleAt, saved, clock }: TurnsOptions): Turns {
  /** The next positions; the others follow in `todo` from `at` on. */
  let head: number[] = [];
  let at = 0;
  /** When a handle was first seen to be requested elsewhere. */
  const waiting = new Map<number, number>();

  const done = (positions: readonly number[]) => {
    const gone = new Set(positions);
    head = head.filter((position) => !gone.has(position));
    for (const position of positions) waiting.delete(position);
  };

  async function claimOf(position: number): Promise<NumbersClaim> {
    const since = waiting.get(position);
    const claim = (await saved?.claim?.(handleAt(position))) ?? alone;
    if (claim.by !== 'other') return claim;
    if (since === undefined) waiting.set(position, clock.mono());
    else if (clock.mono() - since > PATIENCE_MS) return alone;
    return claim;
  }

  async function next(size: number, signal?: AbortSignal): Promise<Turn> {
    // Behind the batch there are as many again, so that handles that are requested elsewhere get some time.
    const missing = Math.max(0, size + BATCH_MAX - head.length);
    head.push(...todo.slice(at, at + missing));
    at = Math.min(todo.length, at + missing);
    const positions = head.slice(0, size);
    if (!saved?.claim) return { positions, here: [], end: async () => {} };
    const claims = await Promise.all(
      positions.map(async (position) => ({ position, claim: await claimOf(position) })),
    );
    const ours: number[] = [];
    const elsewhere: number[] = [];
    const here: PnlResult[] = [];
    const ends: (() => Promise<void>)[] = [];
    for (const { position, claim } of claims) {
      if (claim.by === 'nobody') here.push({ position, record: claim.record });
      else if (claim.by === 'other') elsewhere.push(position);
      else {
        ours.push(position);
        ends.push(claim.end);
      }
    }
    done(here.map(({ position }) => position));
    if (elsewhere.length === positions.length) await clock.sleep(POLL_MS, signal);
    const rest = head.slice(ours.length + elsewhere.length);
    head = [...ours, ...rest.slice(0, BATCH_MAX), ...elsewhere, ...rest.slice(BATCH_MAX)];
    let ended: Promise<unknown> | undefined;
    return {
      positions: ours,
      here,
      async end() {
        ended ??= Promise.all(ends.map((end) => end()));
        await ended;
      },
    };
  }

  return {
    next,
    done,
    left: () => [...head, ...todo.slice(at)],
    get size() {
      return head.length + todo.length - at;
    },
  };
}

const alone: NumbersClaim = { by: 'us', end: async () => {} };
