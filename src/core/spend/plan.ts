import type { PriceBounds } from '../../contract/endpoint.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import { cu } from '../../contract/limits.ts';
import type { RequestParts } from '../../contract/ports/client.ts';
import { endpointRow } from '../client/coding.ts';

/** Stands for an id or address that only the run finds out. The price of a call is the same. */
export const PLACEHOLDER = '00000000-0000-0000-0000-000000000000';

/** How often a run would make a call, and what it would cost. */
interface Repetition {
  /**
   * The maximum number of calls, or of minutes on the WebSocket; null if there is no maximum.
   * Default: 1.
   */
  readonly times?: number | null;
  /** Calls per minute, for a run whose duration is not known. */
  readonly perMinute?: number;
  /** False if the run may turn out not to need the call. Default: true. */
  readonly isSure?: boolean;
  /** The least and greatest cost of all these calls, if they are not those of the endpoint. */
  readonly least?: number;
  readonly most?: number;
  /** What the parameters stand for, where the real ones are not known before the run. */
  readonly standsFor?: string | undefined;
}

/** A call of an endpoint that a run would make. */
export interface PlannedEndpoint extends Repetition {
  readonly id: EndpointId | 'ws';
  readonly ask: RequestParts<EndpointId>;
}

/** A request to a path that the user wrote. */
export interface PlannedRequest extends Repetition {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** The name of its endpoint, or `GET /path`. */
  readonly name: string;
  /** What the request costs; undefined if its price is not known. */
  readonly bounds: PriceBounds | undefined;
}

export type Planned = PlannedEndpoint | PlannedRequest;

/**
 * The estimated cost of a run in CU, and the wallet reveals that it may use; null where that is not
 * known.
 */
export interface Estimate {
  readonly least: number;
  readonly most: number | null;
  readonly reveals: number | null;
}

/** The estimate of a run whose greatest cost is known. */
export interface KnownEstimate extends Estimate {
  readonly most: number;
}

/** The words of a question about a cost, and those for a run of unknown total cost at its limit. */
export interface PlanWords {
  /** The sentence of the question: `Looking up 3 subjects will cost 300 CU`. */
  costs(cost: string): string;
  /** A cheaper way, which the question mentions. */
  readonly cheaper?: string | undefined;
  /**
   * What a run of unknown total cost costs per minute, for the question whether it may continue.
   */
  readonly rate?: string | undefined;
  /** Whether a run of unknown total cost reports its spending limit at its start. */
  readonly tellsLimit?: boolean;
  /** How a run of unknown total cost ends at its limit. */
  stopped?(spent: string): { readonly message: string; readonly hint?: string };
}

/**
 * What a run would send. The dry run prints the calls, the question sums them, and the run sends
 * nothing else, so that nobody pays for what was not shown. It is an upper bound: of what is cached
 * it is exact.
 */
export interface Plan extends PlanWords {
  readonly calls: Iterable<Planned>;
  /** Whether the run sends more calls than these, so that its total cost is not known. */
  readonly isOpen?: boolean;
  /** Why the price of the calls is not known. Only a person can agree to such a call. */
  readonly unpriced?: string | undefined;
  /**
   * Compares the estimate with what the key has left, once the run may spend it. Throws if too
   * little is left.
   */
  check?(estimate: KnownEstimate): Promise<void>;
}

const SOCKET_MINUTE: PriceBounds = {
  least: cu.socketMinute,
  most: cu.socketMinute,
  reveals: 0,
};

/** What planned calls cost together. A call that is planned per minute counts as one minute. */
export function totalOf(calls: Iterable<Planned>): Estimate {
  let least = 0;
  let most: number | null = 0;
  let reveals: number | null = 0;
  for (const planned of calls) {
    // The answer is cached. Its price would load the schemas, which a cached lookup does not need.
    if (planned.times === 0) continue;
    const cost = costOf(planned);
    least += cost.least;
    most = plus(most, cost.most);
    reveals = plus(reveals, cost.reveals);
  }
  return { least, most, reveals };
}

/** What a planned call costs with all its repetitions. Its parameters are not checked. */
export function costOf(planned: Planned, bounds = boundsOf(planned)): Estimate {
  const { times = 1, perMinute, isSure = true } = planned;
  if (bounds === undefined) return { least: 0, most: null, reveals: null };
  const count = perMinute ?? times;
  const least = isSure ? bounds.least * (perMinute ?? 1) : 0;
  const most = count === null ? null : bounds.most * count;
  return {
    least: planned.least ?? least,
    most: planned.most ?? most,
    reveals: count === null ? null : bounds.reveals * count,
  };
}

/** The price of one call; undefined if it is not known. */
function boundsOf(planned: Planned): PriceBounds | undefined {
  if (!('id' in planned)) return planned.bounds;
  if (planned.id === 'ws') return SOCKET_MINUTE;
  const request = { params: {}, query: {}, body: undefined, ...planned.ask };
  return endpointRow(planned.id).price.before(request);
}

/**
 * A call whose answer is cached. It is not sent, but a dry run shows it, so that it has a row for
 * each subject.
 */
export const notSent = <Call extends Planned>(call: Call): Call => ({
  ...call,
  times: 0,
  least: 0,
  most: 0,
});

/** A lookup, and whether it will find a user for certain, so that other calls follow. */
export interface LookupFirst {
  readonly calls: readonly Planned[];
  readonly isSure: boolean;
}

/** A plan that looks up no user. */
export const noLookup: LookupFirst = { calls: [], isSure: true };

/** The calls of a lookup, and those that follow if it finds a user. A price per minute stays. */
export const followed = ({ calls, isSure }: LookupFirst, next: readonly Planned[]): Planned[] => [
  ...calls,
  ...next.map((call) => (isSure || call.perMinute !== undefined ? call : { ...call, isSure })),
];

/** The sum of two costs, which is unknown if one of them is. */
export const plus = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : one + other;
