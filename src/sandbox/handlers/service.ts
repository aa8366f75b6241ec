import type { EndpointId } from '../../contract/endpoints.ts';
import type { SandboxClock } from '../clock.ts';
import type { Route } from '../server/http/endpoint-handler.ts';
import type { World } from '../world/types.ts';
import type { Resolves } from './live-resolves.ts';

/** What handlers stand on. */
export interface Service {
  readonly world: World;
  readonly clock: SandboxClock;
  readonly resolves: Resolves;
  /** Rows that one thesis page holds at most: 20, or as many as were asked for. */
  readonly page: 'full' | 'capped';
}

/** A part of the table, answered. */
export type Routes<Id extends EndpointId> = { readonly [Key in Id]: Route };
