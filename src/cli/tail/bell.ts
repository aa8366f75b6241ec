import type { TailSink } from '../../tail/ports.ts';
import type { Io } from '../io.ts';

/**
 * The minimum time between two beeps, which is about the length of a beep. More frequent beeps could not be
 * distinguished.
 */
const PAUSE_MS = 1_000;

/** Rings the bell of the terminal, at most once a second. Does nothing if stderr is not a terminal. */
export function createBell({ stderr, clock }: Pick<Io, 'stderr' | 'clock'>): () => void {
  let next = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.mono();
    if (stderr.isTTY !== true || now < next) return;
    stderr.write('\u0007');
    next = now + PAUSE_MS;
  };
}

/** A sink that rings the bell when rows are written. */
export function withBell(sink: TailSink, io: Pick<Io, 'stderr' | 'clock'>): TailSink {
  const ring = createBell(io);
  return {
    ...sink,
    write(rows) {
      ring();
      return sink.write(rows);
    },
  };
}
