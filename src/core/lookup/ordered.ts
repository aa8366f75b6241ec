import { setMaxListeners } from 'node:events';

const WINDOW = 8;

interface Slot<T> {
  done?: { readonly value: T } | { readonly error: unknown };
}

/**
 * Yields in order, with bounded memory. An error is thrown after the results of work in progress
 * were yielded.
 */
export async function* ordered<I, O>(
  items: AsyncIterable<I> | Iterable<I>,
  work: (item: I, signal: AbortSignal) => O | Promise<O>,
  {
    window = WINDOW,
    signal,
    end,
  }: {
    /** The most items that are in progress, or done but not yielded yet. */
    readonly window?: number;
    readonly signal?: AbortSignal | undefined;
    /** Called after the last result, after an error, or when the consumer stops. */
    readonly end?: (() => Promise<void>) | undefined;
  } = {},
): AsyncGenerator<O, void, void> {
  const leaving = new AbortController();
  const both = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
  // Every item in progress adds a listener, and Node warns about more than ten.
  setMaxListeners(0, both);
  const iterator = iterate(items);
  const pending: Slot<O>[] = [];
  let reading: Slot<IteratorResult<I>> | undefined;
  let failure: { readonly error: unknown } | undefined;
  let ended = false;
  // With Promise.race, handlers would accumulate on promises that stay pending.
  let wake = () => {};

  const start = <T>(begin: () => T | Promise<T>): Slot<T> => {
    const slot: Slot<T> = {};
    const settle = (done: NonNullable<Slot<T>['done']>) => {
      slot.done = done;
      wake();
    };
    try {
      const result = begin();
      // Without promises for what is available at once, cached lookups are faster.
      if (!(result instanceof Promise)) slot.done = { value: result };
      else
        result.then(
          (value) => settle({ value }),
          (error: unknown) => settle({ error }),
        );
    } catch (error) {
      slot.done = { error };
    }
    return slot;
  };
  const fail = (error: unknown) => {
    failure ??= { error };
  };
  const onAbort = () => {
    fail(signal?.reason);
    wake();
  };
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true, signal: leaving.signal });

  /** Starts work on the item that was read, or notes that the input has ended or failed. */
  const take = (): void => {
    if (failure || !reading?.done) return;
    const { done } = reading;
    reading = undefined;
    if ('error' in done) fail(done.error);
    else if (done.value.done) ended = true;
    else {
      const item = done.value.value;
      pending.push(start(() => work(item, both)));
    }
  };

  try {
    for (;;) {
      take();
      for (const { done } of pending) if (done && 'error' in done) fail(done.error);
      if (!reading && !ended && !failure && pending.length < window) {
        reading = start(() => iterator.next());
      }
      const head = pending[0];
      if (head?.done) {
        pending.shift();
        if ('value' in head.done) yield head.done.value;
      } else if (reading?.done && !failure) {
        // The next item is available already.
      } else if (head || (reading && !failure)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else break;
    }
    if (failure) throw failure.error;
  } finally {
    leaving.abort(new Error('the result is no longer needed'));
    // Input that blocks would delay the end.
    if (!ended) start(() => iterator.return?.());
    await end?.();
  }
}

const iterate = <I>(items: AsyncIterable<I> | Iterable<I>): AsyncIterator<I> | Iterator<I> =>
  Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
