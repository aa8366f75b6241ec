export type Queue = <T>(task: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Runs one task at a time, in the order of the calls. An aborted call leaves the queue; a task that
 * runs must end itself.
 */
export function createQueue(): Queue {
  let tail: Promise<unknown> = Promise.resolve();
  return (task, signal) =>
    new Promise((resolve, reject) => {
      const leave = () => reject(signal?.reason);
      signal?.addEventListener('abort', leave, { once: true });
      tail = tail.then(async () => {
        signal?.removeEventListener('abort', leave);
        if (signal?.aborted) return leave();
        await task().then(resolve, reject);
      });
    });
}
