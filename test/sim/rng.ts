/** A seeded random number generator. */
export interface Rng {
  /** A number in [0, 1). */
  next(): number;
  int(below: number): number;
  between(low: number, high: number): number;
  chance(p: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** Creates a generator for a seed and a stream. */
export function rngOf(seed: number, stream = 0): Rng {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35)) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  next();
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    between: (low, high) => low + next() * (high - low),
    chance: (p) => next() < p,
    pick(from) {
      const picked = from[int(from.length)];
      if (picked === undefined) throw new Error('nothing to pick from');
      return picked;
    },
  };
}
