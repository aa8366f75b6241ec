import type { EndpointId } from '../contract/endpoints.ts';
import type { SandboxClock } from './clock.ts';
import type { Faults } from './faults/engine.ts';
import type { Feed } from './feed.ts';
import type { Resolves } from './handlers/resolves.ts';
import type { Routes } from './handlers/service.ts';
import type { Admission } from './keys/admission.ts';
import type { Log } from './log.ts';
import type { Settled } from './options.ts';
import type { World } from './world/types.ts';

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
