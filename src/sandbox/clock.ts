/**
 * What the clock runs at a given time. If it returns a promise, only `advance` awaits the promise.
 */
type Task = () => unknown;

interface Timer {
  readonly time: number;
  readonly task: Task;
}

/** The longest delay of a Node timer. A timer with a longer delay fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The time of a sandbox, of which all its delays are measured, so that tests can move it. */
export interface SandboxClock {
  now(): number;
  /** Runs `task` once when `now()` reaches `time`; the returned function cancels it. */
  at(time: number, task: Task): () => void;
  /** Moves the time forward by `ms`; tasks run in order, each at its own time, and are awaited. */
  advance(ms: number): Promise<void>;
  /** Sets the time, as if the machine had been suspended: all tasks that are due then run once. */
  set(time: number): void;
  stop(): void;
}

/** A clock that moves only when a test moves it. @internal Exported for tests. */
export const manualClock = (start: number): SandboxClock => clockOf(start, null);

/** A clock that runs from `start` (by default: now) and can also be moved. */
export const runningClock = (start: number = Date.now()): SandboxClock =>
  clockOf(start, performance);

function clockOf(start: number, source: { now(): number } | null): SandboxClock {
  const elapsed = () => (source ? Math.floor(source.now()) : 0);
  let base = start - elapsed();
  const timers: Timer[] = [];
  let armed: NodeJS.Timeout | undefined;
  let moving: Promise<void> = Promise.resolve();

  const now = () => base + elapsed();
  const moveTo = (time: number) => {
    base = time - elapsed();
  };

  const arm = () => {
    clearTimeout(armed);
    const first = timers[0];
    if (!source || !first) return;
    armed = setTimeout(runDue, Math.min(LONGEST_TIMER, Math.max(0, first.time - now())));
    armed.unref();
  };

  const next = (until: number): Timer | undefined => {
    const first = timers[0];
    return first && first.time <= until ? timers.shift() : undefined;
  };

  function runDue() {
    // A task that another task adds runs in a later turn: one that adds itself would block the
    // event loop.
    const due: Timer[] = [];
    for (let timer = next(now()); timer; timer = next(now())) due.push(timer);
    for (const { task } of due) task();
    arm();
  }

  async function pass(ms: number) {
    const target = now() + ms;
    for (let timer = next(target); timer; timer = next(target)) {
      moveTo(Math.max(now(), timer.time));
      await timer.task();
      // Let sockets and handlers react before the time advances further.
      await new Promise((resolve) => setImmediate(resolve));
    }
    moveTo(Math.max(now(), target));
    arm();
  }

  return {
    now,
    at(time: number, task: Task): () => void {
      const timer = { time, task };
      let index = timers.length;
      while (index > 0 && (timers[index - 1]?.time ?? 0) > time) index--;
      timers.splice(index, 0, timer);
      if (index === 0) arm();
      return () => {
        const place = timers.indexOf(timer);
        if (place >= 0) timers.splice(place, 1);
      };
    },
    advance(ms: number): Promise<void> {
      moving = moving.then(() => pass(ms));
      return moving;
    },
    set(time: number): void {
      moveTo(time);
      runDue();
    },
    stop(): void {
      timers.length = 0;
      clearTimeout(armed);
    },
  };
}
