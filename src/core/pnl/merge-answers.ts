import { Failure } from '../../base/failure.ts';
import type { Subject } from '../lookup/subject.ts';
import type { NumbersResult } from './request-batch.ts';

/**
 * Yields the results of all subjects in their order. All of them are yielded before a failure is
 * thrown: they were paid for.
 */
export async function* inOrder(
  subjects: readonly Subject[],
  saved: (subject: Subject) => Promise<NumbersResult | undefined>,
  requested: AsyncIterable<readonly NumbersResult[]>,
): AsyncGenerator<NumbersResult, void, void> {
  const early = new EarlyResults(requested);
  try {
    for (const subject of subjects) {
      // What is saved is asked for first, so that nothing waits for a request that it does not
      // need.
      const result = (await saved(subject)) ?? (await early.take(subject));
      if (result) yield result;
    }
    // After its last answer, the run may still fail.
    await early.readAll();
  } finally {
    await early.close();
  }
  early.throwFailure();
}

/** Results that arrived before their turn. */
class EarlyResults {
  readonly #requested: AsyncIterator<readonly NumbersResult[]>;
  readonly #early = new Map<Subject, NumbersResult>();
  #failure: Failure | undefined;
  #isDone = false;

  constructor(requested: AsyncIterable<readonly NumbersResult[]>) {
    this.#requested = requested[Symbol.asyncIterator]();
  }

  /** Undefined if the requests ended without a result of the subject. */
  async take(subject: Subject): Promise<NumbersResult | undefined> {
    while (!this.#early.has(subject) && !this.#isDone) await this.#read();
    const result = this.#early.get(subject);
    this.#early.delete(subject);
    return result;
  }

  async readAll(): Promise<void> {
    while (!this.#isDone) await this.#read();
  }

  async close(): Promise<void> {
    await this.#requested.return?.();
  }

  throwFailure(): void {
    if (this.#failure) throw this.#failure;
  }

  async #read(): Promise<void> {
    try {
      const { value, done } = await this.#requested.next();
      if (done) this.#isDone = true;
      else for (const result of value) this.#early.set(result.subject, result);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#failure = error;
      this.#isDone = true;
    }
  }
}
