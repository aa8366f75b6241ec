import type { EndpointId } from '../../contract/endpoints.ts';
import { runningClock, type SandboxClock } from '../clock.ts';
import { createFaults, type Faults } from '../faults/engine.ts';
import { routesOf } from '../handlers/index.ts';
import { createResolves, type Resolves } from '../handlers/live-resolves.ts';
import type { Routes } from '../handlers/service.ts';
import { type Admission, createAdmission } from '../keys/admission.ts';
import { type SandboxOptions, type Settled, settle } from '../options.ts';
import { hexOf, randomOf } from '../random.ts';
import { createWorld, loadWorld } from '../world/index.ts';
import type { World } from '../world/types.ts';
import { createFeed, type Feed } from './live-feed.ts';
import { createLog, type Log } from './request-log.ts';

/** The parts of a running sandbox, put together once in `startSandbox`. */
export interface Kernel {
  readonly settings: Settled;
  readonly world: World;
  readonly clock: SandboxClock;
  readonly faults: Faults;
  readonly feed: Feed;
  readonly admission: Admission;
  readonly resolves: Resolves;
  readonly routes: Routes<EndpointId>;
  readonly log: Log;
  readonly nextId: (prefix: string) => string;
}

/** Puts the parts together; nothing listens yet. */
export function kernelOf(options: SandboxOptions): Kernel {
  const settings = settle(options);
  const { seed } = settings;
  const clock = options.clock ?? runningClock(options.now);
  const now = clock.now();
  const { traders, theses, socials } = options;
  const worldOptions = { seed, now, traders, theses, socials };
  const world =
    options.world ??
    (options.data === undefined ? createWorld(worldOptions) : loadWorld(options.data, worldOptions));
  const faults = createFaults(options.faults ?? '', seed);
  const feed = createFeed(world, clock, faults, seed);
  const admission = createAdmission(settings.burstPerSecond, randomOf(seed, 'keys'), () => clock.now());
  const resolves = createResolves(world.users, clock);
  const routes = routesOf({ world, clock, resolves, page: settings.page });
  const stem = hexOf(randomOf(seed, 'ids'), 8);
  let number = 0;
  const nextId = (prefix: string) => `${prefix}_${stem}${(++number).toString(16).padStart(8, '0')}`;
  return { settings, world, clock, faults, feed, admission, resolves, routes, log: createLog(), nextId };
}
