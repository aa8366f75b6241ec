import { generatedSource } from './generated/index.ts';
import { loadedSource } from './loaded/index.ts';
import { createStore } from './store.ts';
import type { World, WorldOptions } from './types.ts';

export { readRecording } from './loaded/index.ts';

/** A history of this size would delay the first answer noticeably, so it is generated before the start. */
const EAGER_THESES = 100_000;

/** Generates a world from a seed: the same options always give the same world, byte for byte. */
export function createWorld(options: WorldOptions): World {
  const world = createStore(generatedSource(options), options.socials ?? false);
  if ((options.theses ?? 0) > EAGER_THESES) world.theses.slice({}, undefined, 1, options.now);
  return world;
}

/** Loads a world from a folder of NDJSON files. Each file is optional; without it, that part is empty. */
export const loadWorld = (dir: string, options: WorldOptions): World =>
  createStore(loadedSource(dir, options.seed), options.socials ?? false);
