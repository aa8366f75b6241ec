import type { Position } from '../../src/tail/position.ts';
import type { PostMark } from '../../src/tail/row.ts';
import type { Rng } from './rng.ts';

/** Storage that survives a crash: lines that were flushed stay, of those after them any number from the first on. */
export interface Disk {
  readonly lines: readonly PostMark[];
  checkpoint: Position | undefined;
  /** A position that was saved some time before the last one. */
  older: Position | undefined;
  write(line: PostMark): void;
  /** Whether a post is in a line that survives a crash. */
  isSafe(id: string): boolean;
  flush(): void;
  /** Simulates a crash. A line of which only a part is left does not count, because the next process removes it. */
  crash(): void;
}

export function createDisk(rng: Rng): Disk {
  const lines: PostMark[] = [];
  let safe = 0;
  /** The first line of each post. */
  const first = new Map<string, number>();
  return {
    lines,
    checkpoint: undefined,
    older: undefined,
    write(line) {
      if (!first.has(line.id)) first.set(line.id, lines.length);
      lines.push(line);
    },
    isSafe: (id) => (first.get(id) ?? safe) < safe,
    flush() {
      safe = lines.length;
    },
    crash() {
      const left = safe + rng.int(lines.length - safe + 1);
      for (const { id } of lines.splice(left)) if ((first.get(id) ?? 0) >= left) first.delete(id);
    },
  };
}
