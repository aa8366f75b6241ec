/** Runs one task at a time, in the order of the calls. An aborted call leaves the queue; a task that runs must end itself. */
export function createQueue() {
  let tail: Promise<unknown> = Promise.resolve();
  return <T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
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

/** An event for which several calls can wait. */
export function createBell() {
  const waiting = new Set<() => void>();
  return {
    ring(): void {
      for (const wake of waiting) wake();
    },
    /** Rejects with the reason of the signal if it is aborted. */
    wait: (signal: AbortSignal | undefined): Promise<void> =>
      new Promise((resolve, reject) => {
        const end = () => {
          waiting.delete(end);
          signal?.removeEventListener('abort', end);
          if (signal?.aborted) reject(signal.reason);
          else resolve();
        };
        waiting.add(end);
        signal?.addEventListener('abort', end);
        if (signal?.aborted) end();
      }),
  };
}
