import { Failure } from '../../base/failure.ts';
import type { FeedState, RelayTerm } from '../../store/feed/term.ts';
import { readCheckpoint } from '../../tail/output/checkpoint.ts';
import { timing } from '../../tail/timing.ts';
import type { StartPoint } from '../../tail/walk/bounds.ts';

/**
 * Splits a checkpoint into the parts that the store saves: the mark, which is the checkpoint without ids, and the
 * ids. `floor` is the post time before which ids are no longer needed; null if there is no such time.
 */
export function markText(checkpoint: string, feed: string) {
  const { floor, known } = readCheckpoint(checkpoint, feed);
  const value: object = JSON.parse(checkpoint);
  return {
    mark: JSON.stringify({ ...value, known: [] }),
    floor: Number.isFinite(floor) ? floor : null,
    known,
  };
}

/** Reads the checkpoint in the store. Another program may have overwritten it. */
function checkpointOf(mark: string, feed: string) {
  try {
    return readCheckpoint(mark, feed);
  } catch (error) {
    throw new Failure('network', 'the checkpoint of this feed in the store is invalid', {
      code: 'STORE_UNFIT',
      hint: 'run "trdr store check", which names the store key to remove',
      cause: error,
    });
  }
}

/**
 * The state that a relay remembers; undefined if it is damaged, or if the feed was verified only up to a time before
 * `since`. The store would keep no posts of that age.
 */
export function usableState(
  state: FeedState | undefined,
  feed: string,
  since: number,
): FeedState | undefined {
  if (state === undefined) return undefined;
  try {
    const { base } = readCheckpoint(state.mark, feed).watermark;
    return base !== null && base < since ? undefined : state;
  } catch {
    return undefined;
  }
}

/**
 * Where a leader starts: at the checkpoint of the previous leader, otherwise after the posts in the store,
 * otherwise with new posts.
 */
export function resumeFrom({ mark, known }: Pick<RelayTerm, 'mark' | 'known'>, feed: string): StartPoint {
  if (mark !== undefined) return { ...checkpointOf(mark, feed), known };
  const times = known.map(([, at]) => at).filter((at) => at !== null);
  if (times.length === 0) return { kind: 'now' };
  const newest = times.reduce((one, other) => Math.max(one, other));
  const oldest = times.reduce((one, other) => Math.min(one, other));
  const top = known.find(([, at]) => at === newest);
  return {
    kind: 'file',
    watermark: { top: { id: top?.[0] ?? '', at: newest }, base: newest - timing.holdMs },
    floor: oldest,
    known,
  };
}
