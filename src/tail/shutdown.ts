import type { Clock } from '../base/clock.ts';
import type { Checkpointer } from './output/checkpointer.ts';
import type { TailWriter } from './output/writer.ts';
import type { Timing } from './timing.ts';
import type { Wakeup } from './wakeup.ts';

interface ShutdownParts {
  readonly clock: Clock;
  readonly timing: Timing;
  readonly wakeup: Wakeup;
  readonly writer: TailWriter;
  readonly checkpointer: Checkpointer | undefined;
  readonly flush: () => Promise<boolean>;
}

/**
 * Waits for pending work, then writes the last checkpoint and flushes the output. The time for all this is limited,
 * so that a blocked output cannot prevent the end of the run.
 */
export async function shutDown(
  { clock, timing, wakeup, writer, checkpointer, flush }: ShutdownParts,
  pending: readonly ((() => Promise<void>) | undefined)[],
): Promise<void> {
  const grace = new AbortController();
  const timeout = clock.sleep(timing.closingMs, grace.signal).then(
    () => {},
    () => {},
  );
  const work = (async () => {
    await Promise.all([writer.settled(), ...pending.map((settled) => settled?.())]);
    // Do not write a checkpoint if rows may be missing from the output, because it would record them as printed.
    if (writer.failed || writer.busy() || writer.closed) return;
    await checkpointer?.end();
    await flush();
  })();
  try {
    await Promise.race([work, timeout]);
  } finally {
    grace.abort();
    wakeup.close();
    work.catch(() => {});
  }
}
