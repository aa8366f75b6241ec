import { generatedSource } from './generated/index.ts';
import { loadedSource } from './loaded/index.ts';
import { createStore } from './store.ts';
import type { World, WorldOptions } from './types.ts';

export { readRecording } from './loaded/index.ts';

/**
 * A history of more theses than this is generated when the sandbox starts, because generating it later would
 * delay the first response noticeably.
 */
const EAGER_THESES = 100_000;

/** Generates a world from a seed. The same options always give exactly the same world. */
export function createWorld(options: WorldOptions): World {
  const world = createStore(generatedSource(options), options.socials ?? false);
  if ((options.theses ?? 0) > EAGER_THESES) world.theses.slice({}, undefined, 1, options.now);
  return world;
}

/** Loads a world from a folder of NDJSON files. If a file is missing, that part of the world is empty. */
export const loadWorld = (dir: string, options: WorldOptions): World =>
  createStore(loadedSource(dir, options.seed), options.socials ?? false);
