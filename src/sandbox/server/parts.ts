import type { EndpointId } from '../../contract/endpoints.ts';
import { runningClock, type SandboxClock } from '../clock.ts';
import { createFaults, type Faults } from '../faults/engine.ts';
import type { EndpointHandlers } from '../handlers/context.ts';
import { createHandlers } from '../handlers/index.ts';
import { createLiveResolves, type LiveResolves } from '../handlers/live-resolves.ts';
import { type Admission, createAdmission } from '../keys/admission.ts';
import { type ResolvedOptions, type SandboxOptions, withDefaults } from '../options.ts';
import { randomHex, randomOf } from '../random.ts';
import { generateRecords } from '../world/generated/index.ts';
import { loadRecords } from '../world/load.ts';
import type { World } from '../world/types.ts';
import { createWorld } from '../world/world.ts';
import { createLiveFeed, type LiveFeed } from './live-feed.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';

/** The parts of a running sandbox. */
export interface SandboxParts {
  readonly settings: ResolvedOptions;
  readonly world: World;
  readonly clock: SandboxClock;
  readonly faults: Faults;
  readonly feed: LiveFeed;
  readonly admission: Admission;
  readonly resolves: LiveResolves;
  readonly handlers: EndpointHandlers<EndpointId>;
  readonly log: RequestLog;
  readonly nextId: (prefix: string) => string;
}

/** Creates the parts. The server does not listen yet. */
export function createParts(options: SandboxOptions): SandboxParts {
  const settings = withDefaults(options);
  const { seed } = settings;
  const clock = options.clock ?? runningClock(options.now);
  const records = () =>
    options.data === undefined ? generateRecords(seed, clock.now(), options) : loadRecords(options.data);
  const world = options.world ?? createWorld(records(), seed);
  const faults = createFaults(options.faults ?? '', seed);
  const feed = createLiveFeed(world, clock, faults, seed);
  const admission = createAdmission(settings.burstPerSecond, randomOf(seed, 'keys'), () => clock.now());
  const resolves = createLiveResolves(world.users, clock);
  const handlers = createHandlers({ world, clock, resolves, page: settings.page });
  const stem = randomHex(randomOf(seed, 'ids'), 8);
  let number = 0;
  const nextId = (prefix: string) => `${prefix}_${stem}${(++number).toString(16).padStart(8, '0')}`;
  return {
    settings,
    world,
    clock,
    faults,
    feed,
    admission,
    resolves,
    handlers,
    log: createRequestLog(),
    nextId,
  };
}
