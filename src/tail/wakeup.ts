import type { Clock } from '../base/clock.ts';

/** What everything rings that has news for the one loop, which then looks at everything. */
export interface Wakeup {
  wake(): void;
  /** Settles at the next wake, or at `due` on the monotonic clock; at once when it rang meanwhile. */
  wait(due: number): Promise<void>;
  /** Ends the alarm. */
  close(): void;
}

/** Why an alarm ended: made once, since every new error costs a look at the stack. */
const REPLACED = new Error('the alarm was replaced');

/** One alarm, which is replaced only by an earlier one: waking once too often is cheaper. */
export function createWakeup(clock: Clock): Wakeup {
  let woken = false;
  let resumeLoop: (() => void) | undefined;
  let alarm: { readonly due: number; readonly off: AbortController } | undefined;

  const wake = () => {
    woken = true;
    resumeLoop?.();
    resumeLoop = undefined;
  };

  const arm = (due: number) => {
    if (due === Number.POSITIVE_INFINITY || (alarm && alarm.due <= due)) return;
    alarm?.off.abort(REPLACED);
    const own = { due, off: new AbortController() };
    alarm = own;
    clock.sleep(Math.max(0, Math.ceil(due - clock.mono())), own.off.signal).then(
      () => {
        if (alarm === own) alarm = undefined;
        wake();
      },
      () => {},
    );
  };

  return {
    wake,
    async wait(due) {
      if (!woken) {
        arm(due);
        await new Promise<void>((resolve) => {
          resumeLoop = resolve;
        });
      }
      woken = false;
    },
    close() {
      alarm?.off.abort(REPLACED);
      alarm = undefined;
    },
  };
}
