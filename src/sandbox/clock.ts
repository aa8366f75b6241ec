/**
 * What the clock runs at a given time. If it returns a promise, only a clock that a test moves
 * awaits the promise.
 */
export type Task = () => unknown;

/** The longest delay of a Node timer. A timer with a longer delay fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

interface Planned {
  readonly time: number;
  readonly task: Task;
}

/** The time of a sandbox, of which all its delays are measured, so that tests can move it. */
export interface SandboxClock {
  now(): number;
  /** Runs `task` once when `now()` reaches `time`; the returned function cancels it. */
  at(time: number, task: Task): () => void;
  stop(): void;
}

/** A clock that runs from the time at which it is made. */
export class RunningClock implements SandboxClock {
  readonly #start = Date.now() - performance.now();
  /** The timer of each task that was not run yet. */
  readonly #timers = new Map<Planned, NodeJS.Timeout>();

  // A property, because the clock is handed on as a function.
  readonly now = (): number => Math.floor(this.#start + performance.now());

  at(time: number, task: Task): () => void {
    const planned = { time, task };
    this.#arm(planned);
    return () => {
      clearTimeout(this.#timers.get(planned));
      this.#timers.delete(planned);
    };
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #arm(planned: Planned): void {
    const delay = Math.min(LONGEST_TIMER, Math.max(0, planned.time - this.now()));
    this.#timers.set(planned, setTimeout(() => this.#run(planned), delay).unref());
  }

  #run(planned: Planned): void {
    // Node may run a timer a millisecond early.
    if (planned.time > this.now()) this.#arm(planned);
    else {
      this.#timers.delete(planned);
      planned.task();
    }
  }
}
