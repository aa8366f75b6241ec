import type { Overflow } from '../../contract/answer-ports.ts';

/** Storage on disk for answers that do not fit in the memory of a memo, and their conversion to text. */
export interface MemoOverflow<T> {
  readonly place: Overflow;
  readonly write: (answer: T) => string;
  readonly read: (text: string) => T;
}

export interface MemoOptions<T> {
  /** The maximum number of answers in each of the two generations. */
  readonly size: number;
  /** Whether to remember an answer; by default, all are remembered. */
  readonly isWorthKeeping?: (answer: T) => boolean;
  /** Storage for the oldest answers; without it, they are dropped. */
  readonly overflow?: MemoOverflow<T> | undefined;
}

/**
 * Remembers the answers of a run, including requests in flight, so that repeated subjects are not requested
 * again. An answer that is available at once is returned at once. With `overflow`, the oldest answers are moved to
 * disk, which bounds the memory. If the disk cannot store them, they stay in memory, because requesting them
 * again would cost money.
 */
export function createMemo<T>({
  size,
  isWorthKeeping = () => true,
  overflow,
}: MemoOptions<T>): (key: string, request: () => T | Promise<T>) => T | Promise<T> {
  // There are two generations of answers in memory. When the young generation is full, it becomes the old
  // one. Unlike an LRU list, this needs no record of when each answer was last used.
  let young = new Map<string, Promise<T>>();
  let old = new Map<string, Promise<T>>();
  /** Generations that are being written to disk, or could not be written. */
  const leaving = new Set<Map<string, Promise<T>>>();
  let moving = Promise.resolve();
  let moves = 0;

  async function moveOut(
    generation: Map<string, Promise<T>>,
    { place, write }: MemoOverflow<T>,
  ): Promise<void> {
    const entries: [string, string][] = [];
    for (const [key, answer] of generation) {
      // Skip an answer that was used again: it is also in a younger generation, and is written with that
      // generation.
      if (young.get(key) === answer || old.get(key) === answer) continue;
      if (place.mayHold(key) && (await place.get(key)) !== undefined) continue;
      const settled = await answer.then(
        (value) => ({ value }),
        () => undefined,
      );
      if (settled && isWorthKeeping(settled.value)) entries.push([key, write(settled.value)]);
    }
    await place.put(entries);
    leaving.delete(generation);
  }

  function inMemory(key: string): Promise<T> | undefined {
    const known = old.get(key);
    if (known) return known;
    for (const generation of leaving) {
      const answer = generation.get(key);
      if (answer) return answer;
    }
    return undefined;
  }

  async function fromOverflow(key: string, request: () => T | Promise<T>): Promise<T> {
    const text = await overflow?.place.get(key);
    return overflow && text !== undefined ? overflow.read(text) : request();
  }

  return (key, request) => {
    const known = young.get(key);
    if (known) return known;
    if (young.size >= size) {
      const oldest = old;
      old = young;
      young = new Map();
      if (overflow && oldest.size > 0) {
        leaving.add(oldest);
        moves++;
        moving = moving
          .then(() => moveOut(oldest, overflow))
          // If the disk is full, the answers stay in memory, so that they are not paid for again.
          .catch(() => {})
          .finally(() => {
            moves--;
          });
      }
    }
    const fetch = () => (overflow?.place.mayHold(key) ? fromOverflow(key, request) : request());
    // If the disk is slower than the service, wait for the disk, so that generations do not accumulate in
    // memory.
    const answer = inMemory(key) ?? (moves > 1 ? moving.then(fetch) : fetch());
    if (!(answer instanceof Promise)) {
      if (isWorthKeeping(answer)) young.set(key, Promise.resolve(answer));
      return answer;
    }
    young.set(key, answer);
    answer.then(
      (value) => {
        if (!isWorthKeeping(value)) young.delete(key);
      },
      () => {},
    );
    return answer;
  };
}
