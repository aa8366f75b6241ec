import { Failure } from '../../base/failure.ts';

/** Returns the result of `work`. A failure is returned instead of thrown. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
