import type { EndpointId } from '../../contract/endpoints.ts';
import type { RequestParts } from '../../contract/ports/client.ts';

/** A request that a command would send, for dry runs and estimates. */
export interface Planned {
  readonly id: EndpointId | 'ws';
  readonly ask: RequestParts<EndpointId>;
  /** The maximum number of calls, or of minutes on the WebSocket; null if there is no maximum. Default: 1. */
  readonly times?: number | null;
  /** Calls per minute, for a run whose duration is not known. */
  readonly perMinute?: number;
  /** False if the run may turn out not to need the call. Default: true. */
  readonly isSure?: boolean;
  /** The least and greatest cost of all these calls, if they are not those of the endpoint. */
  readonly least?: number;
  readonly most?: number;
}
