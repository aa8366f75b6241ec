/**
 * Applies a function to a value: at once, or when the promise of the value is fulfilled. Unlike `await`, this
 * needs no promise for a value that is available.
 */
export const andThen = <T, U>(value: T | Promise<T>, use: (value: T) => U | Promise<U>): U | Promise<U> =>
  value instanceof Promise ? value.then(use) : use(value);
