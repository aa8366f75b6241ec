/** Makes a value at the first call, and returns the same one from then on. */
export function once<A extends readonly unknown[], T>(make: (...args: A) => T): (...args: A) => T {
  let made: { readonly value: T } | undefined;
  return (...args) => {
    made ??= { value: make(...args) };
    return made.value;
  };
}

/** Runs work whose failure does no harm; undefined if it fails. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

export interface OpenPromise {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/** A promise that is resolved from outside, because Node 20 has no `Promise.withResolvers`. */
export function openPromise(): OpenPromise {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
