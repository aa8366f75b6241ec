import { systemClock } from '../base/clock.ts';
import type { InFlight } from '../core/client/in-flight.ts';
import { type EndingSignal, endingSignals, Interrupt } from './io.ts';

/**
 * How long a shutdown may take after the last paid call has ended. Without a limit, a reader that has stopped
 * reading would prevent the exit.
 */
const DELIVERY_MS = 3_000;

/**
 * Shells and wrappers such as npx forward a signal that the terminal has already sent to the whole process
 * group. Two equal signals within this time count as one.
 */
const SAME_MS = 100;

/** Starts a clean shutdown at the first SIGINT, SIGTERM or SIGHUP, and exits at once at the second signal. */
export function handleSignals(inFlight: InFlight) {
  const ending = new AbortController();
  let over = false;
  let first: { readonly signal: EndingSignal; readonly at: number } | undefined;
  const stop = (signal: EndingSignal) => {
    const interrupt = new Interrupt(signal);
    const at = systemClock.mono();
    // Exit at once, because the run has ended.
    if (over) process.exit(interrupt.exit);
    if (first) {
      if (first.signal === signal && at - first.at < SAME_MS) return;
      process.exit(interrupt.exit);
    }
    first = { signal, at };
    ending.abort(interrupt);
    void inFlight.idle().then(() => {
      setTimeout(() => {
        const why =
          process.stdout.writableLength > 0
            ? 'stdout is blocked: its reader has not read the last rows'
            : 'the shutdown took too long and was cut off';
        process.stderr.write(`trdr: ${why}\n`, () => process.exit(interrupt.exit));
        setTimeout(() => process.exit(interrupt.exit), 200).unref();
      }, DELIVERY_MS).unref();
    });
  };
  for (const signal of Object.keys(endingSignals) as EndingSignal[]) process.on(signal, stop);
  return {
    /** Aborted by the first signal, which starts a clean shutdown. */
    first: ending.signal,
    /** Called when the run has ended. From then on, every signal exits at once. */
    runEnded(): void {
      over = true;
    },
  };
}
