import { setMaxListeners } from 'node:events';

const WINDOW = 8;

interface OrderedOptions {
  /** The most items that are in progress, or done but not yielded yet. */
  readonly window?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called after the last result, after an error, or when the consumer stops. */
  readonly end?: (() => Promise<void>) | undefined;
}

type Done<T> = { readonly value: T } | { readonly error: unknown };

/**
 * Work in progress. There is no promise for it, because results that are available at once need
 * none.
 */
interface Slot<T> {
  done?: Done<T>;
}

/**
 * Processes items concurrently and yields the results in the order of the items. At most `window`
 * items are in progress or wait to be yielded, so endless input needs bounded memory. A result is
 * yielded as soon as all earlier ones were, even if the next item has not arrived.
 *
 * After an error, no further item is started; work in progress was paid for, so its results are
 * yielded before the error is thrown. If the consumer stops early, work in progress is cancelled.
 */
export async function* ordered<I, O>(
  items: AsyncIterable<I> | Iterable<I>,
  work: (item: I, signal: AbortSignal) => O | Promise<O>,
  { window = WINDOW, signal, end }: OrderedOptions = {},
): AsyncGenerator<O, void, void> {
  const queue = new Queue(items, work, window, signal);
  try {
    for (;;) {
      queue.advance();
      const result = queue.take();
      if (result) yield result.value;
      else if (queue.isIdle) break;
      else if (!queue.canAdvance) await queue.changed();
    }
    if (queue.failure) throw queue.failure.error;
  } finally {
    queue.leave();
    await end?.();
  }
}

/** The items in progress, in their order. */
class Queue<I, O> {
  /** The first error, after which no further item is started. */
  failure: { readonly error: unknown } | undefined;
  readonly #iterator: AsyncIterator<I> | Iterator<I>;
  readonly #work: (item: I, signal: AbortSignal) => O | Promise<O>;
  readonly #window: number;
  readonly #leaving = new AbortController();
  readonly #signal: AbortSignal;
  readonly #given: AbortSignal | undefined;
  readonly #abort = (): void => {
    this.#fail(this.#given?.reason);
    this.#wake();
  };
  readonly #pending: Slot<O>[] = [];
  #reading: Slot<IteratorResult<I>> | undefined;
  #hasEnded = false;
  /**
   * Ends the wait of `changed`. With Promise.race, handlers would accumulate on promises that stay
   * pending.
   */
  #wake: () => void = () => {};

  constructor(
    items: AsyncIterable<I> | Iterable<I>,
    work: (item: I, signal: AbortSignal) => O | Promise<O>,
    window: number,
    signal: AbortSignal | undefined,
  ) {
    this.#iterator = iterate(items);
    this.#work = work;
    this.#window = window;
    const left = this.#leaving.signal;
    this.#signal = signal ? AbortSignal.any([signal, left]) : left;
    // Every item in progress adds a listener, and Node warns about more than ten.
    setMaxListeners(0, this.#signal);
    this.#given = signal;
    if (signal?.aborted) this.#abort();
    signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Whether nothing is in progress, and nothing more will be. */
  get isIdle(): boolean {
    return this.#pending.length === 0 && (!this.#reading || this.failure !== undefined);
  }

  /** Whether the next item is available already, so that there is nothing to wait for. */
  get canAdvance(): boolean {
    return this.#reading?.done !== undefined && !this.failure;
  }

  /** Starts work on the item that was read, and reads the next one if there is room. */
  advance(): void {
    this.#startNext();
    for (const { done } of this.#pending) if (done && 'error' in done) this.#fail(done.error);
    const isFull = this.#pending.length >= this.#window;
    if (!this.#reading && !this.#hasEnded && !this.failure && !isFull)
      this.#reading = this.#start(() => this.#iterator.next());
  }

  /** The result of the oldest item, once it is known. An item that failed has none. */
  take(): { readonly value: O } | undefined {
    for (let head = this.#pending[0]; head?.done; head = this.#pending[0]) {
      this.#pending.shift();
      if ('value' in head.done) return head.done;
    }
    return undefined;
  }

  async changed(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Cancels what is in progress. Input that blocks would delay the end, so nothing waits for it.
   */
  leave(): void {
    this.#given?.removeEventListener('abort', this.#abort);
    // Nothing listens after the last item; the first abort of a process would cost a cached lookup
    // a millisecond.
    if (!this.#hasEnded || this.#pending.length > 0)
      this.#leaving.abort(new Error('the result is no longer needed'));
    if (!this.#hasEnded) this.#start(() => this.#iterator.return?.());
  }

  #startNext(): void {
    const done = this.#reading?.done;
    if (this.failure || !done) return;
    this.#reading = undefined;
    if ('error' in done) this.#fail(done.error);
    else if (done.value.done) this.#hasEnded = true;
    else {
      const item = done.value.value;
      this.#pending.push(this.#start(() => this.#work(item, this.#signal)));
    }
  }

  #fail(error: unknown): void {
    this.failure ??= { error };
  }

  #start<T>(begin: () => T | Promise<T>): Slot<T> {
    const slot: Slot<T> = {};
    const settle = (done: Done<T>) => {
      slot.done = done;
      this.#wake();
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
  }
}

const iterate = <I>(items: AsyncIterable<I> | Iterable<I>): AsyncIterator<I> | Iterator<I> =>
  Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
