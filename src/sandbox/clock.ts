/** Time of the sandbox as a value: everything that waits, waits here. */
export interface SandboxClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `task` once `now()` has come to `time`; returns what calls it off. */
  at(time: number, task: Task): () => void;
  /** Lets `ms` pass in order: each task runs at its own time, and what it returns is awaited. */
  advance(ms: number): Promise<void>;
  /** Jumps, as a machine that slept: whatever is due runs once, late. */
  set(time: number): void;
  /** Calls every task off. */
  stop(): void;
}

/** What runs at a time. A promise is awaited only while time is moved by hand. */
type Task = () => unknown;

interface Timer {
  readonly time: number;
  readonly task: Task;
}

/** The longest wait a timer of Node takes without firing at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** A clock that stands still until it is moved. */
export const manualClock = (start: number): SandboxClock => clockOf(start, null);

/** A clock that runs, from `start` or from the present; it can be moved as well. */
export const runningClock = (start: number = Date.now()): SandboxClock => clockOf(start, performance);

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
    // What tasks add meanwhile waits for its turn of the loop, so that a task due at once can't starve it.
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
      // Sockets and handlers that the task woke get their turn before time goes on.
      await new Promise((resolve) => setImmediate(resolve));
    }
    moveTo(Math.max(now(), target));
    arm();
  }

  return {
    now,
    at(time, task) {
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
    advance(ms) {
      moving = moving.then(() => pass(ms));
      return moving;
    },
    set(time) {
      moveTo(time);
      runDue();
    },
    stop() {
      timers.length = 0;
      clearTimeout(armed);
    },
  };
}
