import { EPOCH } from '../posts.ts';
import { clockOn, createScheduler, runUntil } from '../scheduler.ts';

/** Virtual time for processes that also work on real files. */
export function createDriver() {
  const scheduler = createScheduler();
  let pending = 0;
  const driver = {
    scheduler,
    /** By how many ms the wall clock is wrong. */
    skew: 0,
    /** Waits for work on real files, during which virtual time stands still. */
    track<T>(work: Promise<T>): Promise<T> {
      pending++;
      return work.finally(() => {
        pending--;
      });
    },
    pause: (ms: number) =>
      new Promise<void>((resolve) => void scheduler.at(scheduler.now + ms, resolve)),
    /** A process that can be killed, which resolves `killed`: its waits then never end. */
    openProcess() {
      let end = () => {};
      const killed = new Promise<undefined>((resolve) => {
        end = () => resolve(undefined);
      });
      const isAlive = (): boolean => process.alive;
      const process = {
        ...{ alive: true, killed },
        clock: clockOn(scheduler, () => EPOCH + driver.skew, isAlive),
        kill() {
          process.alive = false;
          end();
        },
      };
      return process;
    },
    run: (main: Promise<void>) => runUntil(scheduler, main, () => pending > 0),
  };
  return driver;
}
