import type { SandboxClock, Task } from '../../src/sandbox/clock.ts';

interface Timer {
  readonly time: number;
  readonly task: Task;
}

/** The longest delay of a Node timer. A timer with a longer delay fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The time of a sandbox, which tests can move. */
export interface TestClock extends SandboxClock {
  /** Moves the time forward by `ms`; tasks run in order, each at its own time, and are awaited. */
  advance(ms: number): Promise<void>;
  /** Sets the time, as if the machine had been suspended: all tasks that are due then run once. */
  set(time: number): void;
}

/** A clock that moves only when a test moves it. */
export const manualClock = (start: number): TestClock => new MovableClock(start, null);

/** A clock that runs from `start` (by default: now) and can also be moved. */
export const runningClock = (start: number = Date.now()): TestClock =>
  new MovableClock(start, performance);

/** The time of a source that runs, or of none, moved by what was added to it. */
class MovableClock implements TestClock {
  readonly #source: { now(): number } | null;
  /** The time at which the source was 0. */
  #base: number;
  /** Soonest first. */
  readonly #timers: Timer[] = [];
  #armed: NodeJS.Timeout | undefined;
  /** The last call of `advance`: the next one begins after it. */
  #moving: Promise<void> = Promise.resolve();

  constructor(start: number, source: { now(): number } | null) {
    this.#source = source;
    this.#base = start - this.#elapsed();
  }

  // A property, because the clock is handed on as a function.
  readonly now = (): number => this.#base + this.#elapsed();

  at(time: number, task: Task): () => void {
    const timers = this.#timers;
    const timer = { time, task };
    let index = timers.length;
    while (index > 0 && (timers[index - 1]?.time ?? 0) > time) index--;
    timers.splice(index, 0, timer);
    if (index === 0) this.#arm();
    return () => {
      const place = timers.indexOf(timer);
      if (place >= 0) timers.splice(place, 1);
    };
  }

  advance(ms: number): Promise<void> {
    this.#moving = this.#moving.then(() => this.#pass(ms));
    return this.#moving;
  }

  set(time: number): void {
    this.#moveTo(time);
    this.#runDue();
  }

  stop(): void {
    this.#timers.length = 0;
    clearTimeout(this.#armed);
  }

  #elapsed(): number {
    return this.#source ? Math.floor(this.#source.now()) : 0;
  }

  #moveTo(time: number): void {
    this.#base = time - this.#elapsed();
  }

  #arm(): void {
    clearTimeout(this.#armed);
    const first = this.#timers[0];
    if (!this.#source || !first) return;
    const delay = Math.min(LONGEST_TIMER, Math.max(0, first.time - this.now()));
    this.#armed = setTimeout(() => this.#runDue(), delay).unref();
  }

  /** Takes the first timer that is due at a time. */
  #take(until: number): Timer | undefined {
    const first = this.#timers[0];
    return first && first.time <= until ? this.#timers.shift() : undefined;
  }

  #runDue(): void {
    // A task that another task adds runs in a later turn: one that adds itself would block the
    // event loop.
    const due: Timer[] = [];
    for (let timer = this.#take(this.now()); timer; timer = this.#take(this.now())) due.push(timer);
    for (const { task } of due) task();
    this.#arm();
  }

  async #pass(ms: number): Promise<void> {
    const target = this.now() + ms;
    for (let timer = this.#take(target); timer; timer = this.#take(target)) {
      this.#moveTo(Math.max(this.now(), timer.time));
      await timer.task();
      // Let sockets and handlers react before the time advances further.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#moveTo(Math.max(this.now(), target));
    this.#arm();
  }
}
