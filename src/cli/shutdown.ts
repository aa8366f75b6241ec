import type { Sink } from '../output/sink.ts';
import { Interrupt, type Io } from './io.ts';

/** Whether a signal has ended the run. */
export const isInterrupted = ({ signal }: Pick<Io, 'signal'>): boolean => signal.reason instanceof Interrupt;

/**
 * Handles the first signal: delivers the rows received so far, and reports the calls that the shutdown waits
 * for.
 */
export function prepareShutdown(io: Io, sinks: readonly Sink[], notice: (text: string) => void): void {
  const begin = () => {
    if (!isInterrupted(io)) return;
    // Write buffered rows now, so that they are not lost at a second signal.
    for (const sink of sinks) sink.flush().catch(() => {});
    const { count } = io.inFlight;
    if (count === 0) return;
    const [calls, answers] =
      count === 1 ? ['a paid call', 'its answer'] : [`${count} paid calls`, 'their answers'];
    const seconds = Math.max(1, Math.ceil(io.inFlight.leftMs() / 1000));
    notice(
      `stopping: waiting up to ${seconds}s for ${calls} in flight; a second signal exits at once and loses ${answers}`,
    );
  };
  io.signal.addEventListener('abort', begin, { once: true });
}
