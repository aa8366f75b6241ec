import { Failure } from '../../base/failure.ts';
import type { FeedState, RelayTerm } from '../../store/feed/term.ts';
import type { StartPoint } from '../../tail/ports.ts';
import { continueAfter, type Position, readPosition } from '../../tail/position.ts';
import { timing } from '../../tail/timing.ts';

/** Reads the position in the store. Another program may have overwritten it. */
function positionOf(mark: string, feed: string): Position {
  try {
    return readPosition(mark, feed);
  } catch (error) {
    throw new Failure('network', 'the position of this feed in the store is invalid', {
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
    const { verified } = readPosition(state.mark, feed);
    return verified !== null && verified < since ? undefined : state;
  } catch {
    return undefined;
  }
}

/**
 * Where a leader starts: at the position of the previous leader, otherwise after the posts in the store,
 * otherwise with new posts.
 */
export function resumeFrom(
  { mark, published }: Pick<RelayTerm, 'mark' | 'published'>,
  feed: string,
): StartPoint {
  const saved = mark === undefined ? undefined : positionOf(mark, feed);
  const position = continueAfter(saved, published, feed, timing.latenessMs);
  return position ? { kind: 'position', position } : { kind: 'now' };
}
