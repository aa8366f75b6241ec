import { Failure } from '../../base/failure.ts';
import type { PnlResult } from './batches.ts';

export interface InOrderOptions {
  /** How many handles there are. */
  readonly size: number;
  /** The cached answer at a position; undefined where it was requested. */
  readonly saved: (position: number) => Promise<PnlResult | undefined>;
  /** The requested answers, in any order. */
  readonly requested: AsyncIterable<readonly PnlResult[]>;
}

/**
 * Cached and requested answers together, in the order of the handles. After a failure, the answers that are here
 * already are given before it is thrown: they were paid for.
 */
export async function* inOrder({
  size,
  saved,
  requested,
}: InOrderOptions): AsyncGenerator<PnlResult, void, void> {
  const early = new Map<number, PnlResult>();
  const answers = requested[Symbol.asyncIterator]();
  let failure: { readonly error: unknown } | undefined;

  /** Whether more has come. */
  async function pull(): Promise<boolean> {
    try {
      const { value, done } = await answers.next();
      if (done) return false;
      for (const result of value) early.set(result.position, result);
      return true;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = { error };
      return false;
    }
  }

  try {
    for (let position = 0; position < size; position++) {
      const known = await saved(position);
      if (known) {
        yield known;
        continue;
      }
      while (!early.has(position) && !failure && (await pull()));
      const result = early.get(position);
      early.delete(position);
      if (result) yield result;
    }
    // The run may have more to do after its last answer, and may fail at it.
    while (!failure && (await pull()));
  } finally {
    await answers.return?.();
  }
  if (failure) throw failure.error;
}
