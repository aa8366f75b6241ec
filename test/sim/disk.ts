import type { Rng } from './rng.ts';

/** Storage that survives a crash: flushed text stays, text that was only written may be cut off anywhere. */
export interface Disk {
  readonly text: string;
  checkpoint: string | undefined;
  /** A position that was saved some time before the last one. */
  older: string | undefined;
  /** Writes a line about the post with this id. */
  write(text: string, id: string): void;
  /** Whether a post is in the text that survives a crash. */
  isSafe(id: string): boolean;
  flush(): void;
  /** Simulates a crash. */
  crash(): void;
  /** Truncates the output to this length. */
  cut(bytes: number): void;
}

/** An empty disk. */
export function createDisk(rng: Rng): Disk {
  let text = '';
  let safe = 0;
  /** Where the first line of each post ends. */
  const ends = new Map<string, number>();
  return {
    get text() {
      return text;
    },
    checkpoint: undefined,
    older: undefined,
    write(more, id) {
      text += more;
      if ((ends.get(id) ?? Number.POSITIVE_INFINITY) > text.length - more.length) ends.set(id, text.length);
    },
    isSafe: (id) => (ends.get(id) ?? Number.POSITIVE_INFINITY) <= safe,
    flush() {
      safe = text.length;
    },
    crash() {
      text = text.slice(0, safe + rng.int(text.length - safe + 1));
    },
    cut(length) {
      text = text.slice(0, length);
      safe = Math.min(safe, length);
    },
  };
}
