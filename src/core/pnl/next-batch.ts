import { once } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import { BATCH_MAX } from '../../contract/limits.ts';
import type { NumbersClaim, SavedNumbers } from './cached-numbers.ts';

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
  let left = todo;
  /** When another machine was first seen requesting the handle. */
  const waiting = new Map<number, number>();

  async function claimOf(position: number): Promise<NumbersClaim> {
    const since = waiting.get(position);
    const claim = (await saved?.claim?.(handleAt(position), 0)) ?? alone;
    if (claim.by !== 'other') return claim;
    if (since === undefined) waiting.set(position, clock.mono());
    else if (clock.mono() - since > PATIENCE_MS) return alone;
    return claim;
  }

  return {
    /** The positions of a batch to request, and answers that the store already has. */
    async next(size: number, signal?: AbortSignal) {
      const positions = left.slice(0, size);
      if (!saved?.claim) return { positions, here: [], end: async () => {} };
      const claims = await Promise.all(positions.map(claimOf));
      const held = (by: NumbersClaim['by']) => positions.filter((_, at) => claims[at]?.by === by);
      const [ours, elsewhere] = [held('us'), held('other')];
      const rest = left.slice(positions.length);
      // Move the handles of other machines behind the next batch.
      left = [...ours, ...rest.slice(0, BATCH_MAX), ...elsewhere, ...rest.slice(BATCH_MAX)];
      if (elsewhere.length === positions.length) await clock.sleep(POLL_MS, signal);
      return {
        positions: ours,
        here: claims.flatMap((claim, at) =>
          claim.by === 'cache' ? [{ position: positions[at] ?? 0, record: claim.record }] : [],
        ),
        end: once(async () => {
          await Promise.all(claims.map((claim) => claim.by === 'us' && claim.end()));
        }),
      };
    },
    /** They were answered, or their answer was lost and is not requested again. */
    done(positions: readonly number[]): void {
      const gone = new Set(positions);
      left = left.filter((position) => !gone.has(position));
    },
    left: (): readonly number[] => left,
  };
}

const alone: NumbersClaim = { by: 'us', end: async () => {} };
