import { openPromise } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { errno, isDiskFull } from '../base/files.ts';
import { failureOf } from './sink.ts';

/**
 * Pauses a run that follows a feed while any of its files cannot be written because a disk is full.
 */
export type DiskWait = ReturnType<typeof createDiskWait>;

/** A `Failure` with EIO is final: see `syncTo`. */
const mayPass = (error: unknown) =>
  isDiskFull(error) || (errno(error) === 'EIO' && !(error instanceof Failure));
const RETRY_MS = 1_000;

export function createDiskWait(
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
  notice: (text: string) => void,
) {
  const closed = new AbortController();
  const until = AbortSignal.any([signal, closed.signal]);
  const waiting = new Set<Failure>();
  let over: ReturnType<typeof openPromise> | undefined;

  const begin = (failure: Failure) => {
    if (![...waiting].some(({ message }) => message === failure.message))
      notice(`${failure.message}; waiting until it can be written`);
    waiting.add(failure);
    over ??= openPromise();
  };

  const end = (failure: Failure) => {
    waiting.delete(failure);
    if (waiting.size > 0) return;
    over?.resolve();
    over = undefined;
  };

  return {
    get failure(): Failure | undefined {
      const [first] = waiting;
      return first;
    },
    wait: (): Promise<void> | undefined => over?.promise,
    /**
     * Repeats `step` every second while the disk is full or the device fails. Throws all other
     * errors.
     */
    async retry<T>(path: string, step: () => T | Promise<T>): Promise<T> {
      let failure: Failure | undefined;
      try {
        for (;;) {
          try {
            const value = await step();
            if (failure) notice(`${path} can be written again`);
            return value;
          } catch (error) {
            if (!mayPass(error) || until.aborted) throw error;
            if (!failure) {
              failure = failureOf(path, error);
              begin(failure);
            }
            await clock.sleep(RETRY_MS, until).catch(() => {});
          }
        }
      } finally {
        if (failure) end(failure);
      }
    },
    /** A step that waits is tried once more. From now on, each step is tried only once. */
    close: () => closed.abort(),
  };
}
