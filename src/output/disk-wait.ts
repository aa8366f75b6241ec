import { type OpenPromise, openPromise } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { errno, isDiskFull } from '../base/files.ts';
import { failureOf } from './sink.ts';

/**
 * Pauses a run that follows a feed while any of its files cannot be written because a disk is full.
 */
export interface DiskWait {
  /** Why the run waits; undefined while it does not. */
  readonly failure: Failure | undefined;
  /** Ends when all files can be written again; undefined if they can. */
  wait(): Promise<void> | undefined;
  /**
   * Repeats `step` every second while the disk is full or the device fails. Throws all other
   * errors.
   */
  retry<T>(path: string, step: () => T | Promise<T>): Promise<T>;
  /** A step that waits is tried once more. From now on, each step is tried only once. */
  close(): void;
}

/** A `Failure` with EIO is final: see `syncTo`. */
const mayPass = (error: unknown) =>
  isDiskFull(error) || (errno(error) === 'EIO' && !(error instanceof Failure));
const RETRY_MS = 1_000;

export class FullDiskWait implements DiskWait {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #notice: (text: string) => void;
  readonly #closed = new AbortController();
  readonly #until: AbortSignal;
  readonly #waiting = new Set<Failure>();
  /** The end of the pause; undefined while nothing waits. */
  #pause: OpenPromise | undefined;

  constructor(clock: Pick<Clock, 'sleep'>, signal: AbortSignal, notice: (text: string) => void) {
    this.#clock = clock;
    this.#notice = notice;
    this.#until = AbortSignal.any([signal, this.#closed.signal]);
  }

  get failure(): Failure | undefined {
    const [first] = this.#waiting;
    return first;
  }

  wait(): Promise<void> | undefined {
    return this.#pause?.promise;
  }

  async retry<T>(path: string, step: () => T | Promise<T>): Promise<T> {
    let failure: Failure | undefined;
    try {
      for (;;) {
        try {
          const value = await step();
          if (failure) this.#notice(`${path} can be written again`);
          return value;
        } catch (error) {
          if (!mayPass(error) || this.#until.aborted) throw error;
          if (!failure) {
            failure = failureOf(path, error);
            this.#begin(failure);
          }
          await this.#clock.sleep(RETRY_MS, this.#until).catch(() => {});
        }
      }
    } finally {
      if (failure) this.#end(failure);
    }
  }

  close(): void {
    this.#closed.abort();
  }

  #begin(failure: Failure): void {
    if (![...this.#waiting].some(({ message }) => message === failure.message))
      this.#notice(`${failure.message}; waiting until it can be written`);
    this.#waiting.add(failure);
    this.#pause ??= openPromise();
  }

  #end(failure: Failure): void {
    this.#waiting.delete(failure);
    if (this.#waiting.size > 0) return;
    this.#pause?.resolve();
    this.#pause = undefined;
  }
}
