import type { Clock } from '../base/clock.ts';
import type { Checkpointer } from './output/checkpointer.ts';
import type { TailWriter } from './output/writer.ts';
import type { Timing } from './timing.ts';
import type { Wakeup } from './wakeup.ts';

interface WindUp {
  readonly clock: Clock;
  readonly timing: Timing;
  readonly bell: Wakeup;
  readonly outlet: TailWriter;
  readonly keeper: Checkpointer | undefined;
  readonly flush: () => Promise<boolean>;
}

/** Waits for what was begun, and not for ever: an output that is blocked must not hold up the end. */
export async function shutDown(
  { clock, timing, bell, outlet, keeper, flush }: WindUp,
  begun: readonly ((() => Promise<void>) | undefined)[],
): Promise<void> {
  const grace = new AbortController();
  const patience = clock.sleep(timing.closingMs, grace.signal).then(
    () => {},
    () => {},
  );
  const work = (async () => {
    await Promise.all([outlet.settled(), ...begun.map((settled) => settled?.())]);
    if (outlet.busy() || outlet.closed) return;
    await keeper?.end();
    await flush();
  })();
  try {
    await Promise.race([work, patience]);
  } finally {
    grace.abort();
    bell.close();
    work.catch(() => {});
  }
}
