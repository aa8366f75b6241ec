/** Counts how often each numbered post was seen, in a byte for each. */
export interface Counts {
  /** The first number that was seen. */
  readonly first: number;
  of(number: number): number;
  add(number: number): void;
}

export function createCounts(): Counts {
  let counts = new Uint8Array(1_024);
  return {
    get first() {
      return Math.max(
        0,
        counts.findIndex((count) => count > 0),
      );
    },
    of: (number) => counts[number] ?? 0,
    add(number) {
      while (number >= counts.length) {
        const more = new Uint8Array(counts.length * 2);
        more.set(counts);
        counts = more;
      }
      counts[number] = Math.min(255, (counts[number] ?? 0) + 1);
    },
  };
}
