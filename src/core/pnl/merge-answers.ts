import { Failure } from '../../base/failure.ts';
import type { PnlResult } from './request-batch.ts';

/** All answers are yielded before a failure is thrown, because they were paid for. */
export async function* inOrder(
  size: number,
  saved: (position: number) => Promise<PnlResult | undefined>,
  requested: AsyncIterable<readonly PnlResult[]>,
): AsyncGenerator<PnlResult, void, void> {
  const early = new Map<number, PnlResult>();
  const answers = requested[Symbol.asyncIterator]();
  let failure: { readonly error: unknown } | undefined;

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
    // After its last answer, the generator may still fail.
    while (!failure && (await pull()));
  } finally {
    await answers.return?.();
  }
  if (failure) throw failure.error;
}
