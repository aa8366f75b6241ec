import { EPOCH } from '../posts.ts';
import { clockOn, createScheduler, type ProcessClock, type Scheduler } from '../scheduler.ts';

/** Virtual time for processes that also work on real files. */
export interface Driver {
  readonly scheduler: Scheduler;
  /** By how many ms the wall clock is wrong. */
  skew: number;
  /** Waits for work on real files, during which virtual time stands still. */
  track<T>(work: Promise<T>): Promise<T>;
  pause(ms: number): Promise<void>;
  /** Ends the simulation with an error. */
  fail(error: unknown): void;
  openProcess(): SimulatedProcess;
  /** Runs until `main` ends, and calls `turn` after each event; false if everything waits and no event is scheduled. */
  run(main: () => Promise<void>, turn: () => void): Promise<boolean>;
}

/** A process that can be killed: its waits then never end. */
export interface SimulatedProcess {
  readonly alive: boolean;
  readonly clock: ProcessClock;
  /** Resolves when the process is killed or has ended. */
  readonly killed: Promise<undefined>;
  kill(): void;
}

export function createDriver(): Driver {
  const scheduler = createScheduler();
  let pending = 0;
  let over = false;
  let failure: { readonly error: unknown } | undefined;

  const driver: Driver = {
    scheduler,
    skew: 0,
    track(work) {
      pending++;
      return work.finally(() => {
        pending--;
      });
    },
    pause: (ms) => new Promise((resolve) => void scheduler.at(scheduler.now + ms, resolve)),
    fail(error) {
      failure ??= { error };
    },
    openProcess() {
      let alive = true;
      let kill = () => {};
      const killed = new Promise<undefined>((resolve) => {
        kill = () => {
          alive = false;
          resolve(undefined);
        };
      });
      const clock = clockOn(
        scheduler,
        () => EPOCH + driver.skew,
        () => alive,
      );
      return {
        get alive() {
          return alive;
        },
        ...{ clock, killed, kill },
      };
    },
    async run(main, turn) {
      main().then(
        () => {
          over = true;
        },
        (error: unknown) => driver.fail(error),
      );
      for (;;) {
        // Only real files need the event loop.
        do await new Promise<void>((resolve) => (pending > 0 ? setImmediate : process.nextTick)(resolve));
        while (pending > 0);
        if (over || failure || !scheduler.step()) break;
        turn();
      }
      if (failure) throw failure.error;
      return over;
    },
  };
  return driver;
}
