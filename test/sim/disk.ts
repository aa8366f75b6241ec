import type { Rng } from './rng.ts';

/** Storage that survives a crash: flushed text stays, text that was only written may be cut off anywhere. */
export interface Disk {
  readonly text: string;
  checkpoint: string | undefined;
  write(text: string): void;
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
  return {
    get text() {
      return text;
    },
    checkpoint: undefined,
    write(more) {
      text += more;
    },
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
