import { Failure } from '../../base/failure.ts';

/** Returns the result of `work`, or the `Failure` that it threw. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
