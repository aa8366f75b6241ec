import type { EndpointId } from '../../contract/endpoints.ts';
import type { SandboxClock } from '../clock.ts';
import type { EndpointHandler } from '../server/http/endpoint-handler.ts';
import type { World } from '../world/types.ts';
import type { LiveResolves } from './live-resolves.ts';

/** The parts of the sandbox that handlers use. */
export interface HandlerContext {
  readonly world: World;
  readonly clock: SandboxClock;
  readonly resolves: LiveResolves;
  /** Whether a thesis page has at most 20 rows (capped), or as many as requested (full). */
  readonly page: 'full' | 'capped';
}

/** The handlers of some endpoints. */
export type EndpointHandlers<Id extends EndpointId> = { readonly [Key in Id]: EndpointHandler };
