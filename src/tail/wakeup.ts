import type { Clock } from '../base/clock.ts';

export interface Wakeup {
  wake(): void;
  /**
   * Resolves at the next call of `wake`, or at `due` on the monotonic clock. If `wake` was called since the
   * last wait, resolves at once.
   */
  wait(due: number): Promise<void>;
  close(): void;
}

/**
 * The error that cancels a timer. It is created once, because capturing the stack for each error would be
 * slow.
 */
const REPLACED = new Error('the timer was replaced');

/**
 * Creates a wakeup with a single timer, which is replaced only by an earlier one: waking the loop
 * unnecessarily costs less than a new timer.
 */
export function createWakeup(clock: Clock): Wakeup {
  let woken = false;
  let resumeLoop: (() => void) | undefined;
  let timer: { readonly due: number } | undefined;
  /** Cancels the timer. The next one uses it too, unless it was aborted. */
  let off = new AbortController();

  const wake = () => {
    woken = true;
    resumeLoop?.();
    resumeLoop = undefined;
  };

  const cancel = () => {
    if (!timer) return;
    off.abort(REPLACED);
    off = new AbortController();
    timer = undefined;
  };

  const arm = (due: number) => {
    if (due === Number.POSITIVE_INFINITY || (timer && timer.due <= due)) return;
    cancel();
    const own = { due };
    timer = own;
    clock.sleep(Math.max(0, Math.ceil(due - clock.mono())), off.signal).then(
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
    close: cancel,
  };
}
