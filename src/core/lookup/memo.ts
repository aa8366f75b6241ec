import type { RunAnswers } from '../../contract/answer-ports.ts';

interface MemoDisk<T> {
  readonly place: RunAnswers;
  /** Plain data; undefined if the answer is not worth storing. */
  readonly write: (answer: T) => unknown;
  /** Undefined if another program has changed the data. */
  readonly read: (stored: unknown) => T | undefined;
}

export interface MemoOptions<T> {
  /** How many answers stay in memory. */
  readonly size: number;
  /** By default, all are remembered. */
  readonly isWorthKeeping?: (answer: T) => boolean;
  /** For the oldest answers; without it, they are dropped. */
  readonly disk?: MemoDisk<T> | undefined;
}

/**
 * Remembers the answers of a run and its requests in flight, so that repeated subjects are not requested
 * again. `disk` bounds the memory. If the disk is full, answers stay in memory, because requesting them again
 * would cost money.
 */
export function createMemo<T extends object>({
  size,
  isWorthKeeping = () => true,
  disk,
}: MemoOptions<T>): (key: string, request: () => T | Promise<T>) => T | Promise<T> {
  /** The oldest first. */
  const held = new Map<string, T | Promise<T>>();

  function makeRoom(): void {
    for (const [key, answer] of held) {
      if (held.size < size) return;
      if (answer instanceof Promise) continue;
      const stored = disk?.write(answer);
      if (stored !== undefined && disk?.place.put(key, stored) === false) return;
      held.delete(key);
    }
  }

  function onDisk(key: string): T | undefined {
    const stored = disk?.place.get(key);
    return stored === undefined ? undefined : disk?.read(stored);
  }

  return (key, request) => {
    const known = held.get(key) ?? onDisk(key);
    if (known) return known;
    makeRoom();
    const answer = request();
    const settle = (value: T) => {
      if (isWorthKeeping(value)) held.set(key, value);
      else held.delete(key);
    };
    if (answer instanceof Promise) {
      held.set(key, answer);
      answer.then(settle, () => {});
    } else settle(answer);
    return answer;
  };
}
