import type { TailSink } from '../../tail/ports.ts';
import type { Io } from '../io.ts';

/** Terminals beep for about this long: more often would be one long noise. */
const PAUSE_MS = 1_000;

/** Rings the terminal, at most once a second. Off a terminal nothing rings. */
export function createBell({ stderr, clock }: Pick<Io, 'stderr' | 'clock'>): () => void {
  let next = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.mono();
    if (stderr.isTTY !== true || now < next) return;
    stderr.write('\u0007');
    next = now + PAUSE_MS;
  };
}

/** Rings when rows are written. */
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
