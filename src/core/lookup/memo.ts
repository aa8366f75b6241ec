/**
 * Remembers answers of a run, the ones under way included, so that nothing is asked twice. Bounded: what
 * was not asked for during the last `size` other questions is forgotten.
 */
export function createMemo<T>(
  size: number,
  isWorthKeeping: (answer: T) => boolean = () => true,
): (key: string, ask: () => Promise<T>) => Promise<T> {
  // Two generations: dropping the older one costs nothing, however many it holds.
  let young = new Map<string, Promise<T>>();
  let old = new Map<string, Promise<T>>();
  return (key, ask) => {
    const known = young.get(key);
    if (known) return known;
    if (young.size >= size) {
      old = young;
      young = new Map();
    }
    const answer = old.get(key) ?? ask();
    young.set(key, answer);
    answer.then(
      (value) => {
        if (!isWorthKeeping(value)) young.delete(key);
      },
      () => {},
    );
    return answer;
  };
}
