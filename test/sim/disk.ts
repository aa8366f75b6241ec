import type { Rng } from './rng.ts';

/** An output that outlives its process: what was flushed stays, what was only written may be torn anywhere. */
export interface Disk {
  readonly text: string;
  checkpoint: string | undefined;
  write(text: string): void;
  flush(): void;
  /** What is left after a crash. */
  crash(): void;
  /** Cuts the end off. */
  cut(bytes: number): void;
}

/** A disk that starts empty. */
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
