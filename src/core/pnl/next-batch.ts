import type { Clock } from '../../base/clock.ts';
import { BATCH_MAX } from '../../contract/limits.ts';
import type { NumbersClaim, SavedNumbers } from './cached-numbers.ts';
import type { PnlResult } from './request-batch.ts';

/** The positions of a batch to request, and answers that the store already has. */
export interface Turn {
  readonly positions: readonly number[];
  readonly here: readonly PnlResult[];
  readonly end: () => Promise<void>;
}

/** Longer than a call of another machine can take. After this, this machine requests the handle itself. */
const PATIENCE_MS = 150_000;
const POLL_MS = 100;

/** Skips handles that another machine is requesting, and reads their answers from the store. */
export function createTurns(
  todo: readonly number[],
  handleAt: (position: number) => string,
  saved: SavedNumbers | undefined,
  clock: Pick<Clock, 'mono' | 'sleep'>,
) {
  /** The next positions. Those after them are in `todo`, from index `at`. */
  let head: number[] = [];
  let at = 0;
  /** When another machine was first seen requesting the handle. */
  const waiting = new Map<number, number>();

  /** They were answered, or their answer was lost and is not requested again. */
  const done = (positions: readonly number[]): void => {
    const gone = new Set(positions);
    head = head.filter((position) => !gone.has(position));
    for (const position of positions) waiting.delete(position);
  };

  async function claimOf(position: number): Promise<NumbersClaim> {
    const since = waiting.get(position);
    const claim = (await saved?.claim?.(handleAt(position), 0)) ?? alone;
    if (claim.by !== 'other') return claim;
    if (since === undefined) waiting.set(position, clock.mono());
    else if (clock.mono() - since > PATIENCE_MS) return alone;
    return claim;
  }

  async function next(size: number, signal?: AbortSignal): Promise<Turn> {
    // More than fit into the batch, so that the handles of other machines can be moved behind others.
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
      if (claim.by === 'cache') here.push({ position, record: claim.record });
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
    left: (): readonly number[] => [...head, ...todo.slice(at)],
    get size(): number {
      return head.length + todo.length - at;
    },
  };
}

const alone: NumbersClaim = { by: 'us', end: async () => {} };
