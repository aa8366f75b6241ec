import type { Position } from '../../src/tail/position.ts';
import type { PostFields, PostMark } from '../../src/tail/post-row.ts';
import type { Rng } from './rng.ts';

interface Line extends PostMark {
  readonly record?: PostFields;
}

/** Storage that survives a crash: lines that were flushed stay, of those after them any number from the first on. */
export interface Disk {
  readonly lines: readonly Line[];
  checkpoint: Position | undefined;
  /** A position that was saved some time before the last one. */
  older: Position | undefined;
  write(line: Line): void;
  /** Whether a post is in one of the first `lines` lines, and this line survives a crash. */
  isSafe(id: string, lines?: number): boolean;
  flush(): void;
  /** Simulates a crash. A line of which only a part is left does not count, because the next process removes it. */
  crash(): void;
  /** Removes the lines from this one on. */
  cut(from: number): void;
}

export function createDisk(rng: Rng): Disk {
  const lines: Line[] = [];
  let safe = 0;
  /** The first line of each post. */
  const first = new Map<string, number>();
  const cut = (from: number) => {
    for (const { id } of lines.splice(from)) if ((first.get(id) ?? 0) >= from) first.delete(id);
    safe = Math.min(safe, lines.length);
  };
  return {
    lines,
    checkpoint: undefined,
    older: undefined,
    write(line) {
      if (!first.has(line.id)) first.set(line.id, lines.length);
      lines.push(line);
    },
    isSafe: (id, lines = safe) => (first.get(id) ?? safe) < Math.min(safe, lines),
    flush() {
      safe = lines.length;
    },
    crash: () => cut(safe + rng.int(lines.length - safe + 1)),
    cut,
  };
}
