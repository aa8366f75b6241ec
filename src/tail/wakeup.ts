import type { Clock } from '../base/clock.ts';

/** Wakes the one loop, which then calls all parts. */
export interface Wakeup {
  wake(): void;
  /** Resolves at the next `wake`, or at `due` on the monotonic clock; immediately if it was woken meanwhile. */
  wait(due: number): Promise<void>;
  /** Cancels the timer. */
  close(): void;
}

/** The reason for a cancelled timer; created once, because a new error captures the stack. */
const REPLACED = new Error('the timer was replaced');

/** Uses one timer, which is replaced only by an earlier one: an unnecessary wake is cheaper than a new timer. */
export function createWakeup(clock: Clock): Wakeup {
  let woken = false;
  let resumeLoop: (() => void) | undefined;
  let timer: { readonly due: number; readonly off: AbortController } | undefined;

  const wake = () => {
    woken = true;
    resumeLoop?.();
    resumeLoop = undefined;
  };

  const arm = (due: number) => {
    if (due === Number.POSITIVE_INFINITY || (timer && timer.due <= due)) return;
    timer?.off.abort(REPLACED);
    const own = { due, off: new AbortController() };
    timer = own;
    clock.sleep(Math.max(0, Math.ceil(due - clock.mono())), own.off.signal).then(
      () => {
        if (timer === own) timer = undefined;
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
      timer?.off.abort(REPLACED);
      timer = undefined;
    },
  };
}
