import type { BudgetState } from './budget.ts';
import type { Charge, PriceBounds } from './endpoint.ts';
import type { EndpointId, KnownAnswerOf, RequestOf } from './endpoints.ts';
import type { Meta } from './envelope.ts';
import type { FieldDifference, Known, Sent } from './read-record.ts';
import type { Me } from './records/account.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /**
   * The maximum wait for the start of the response, and for each further part of it. The whole request may
   * take `LONGEST_RESPONSE` times as long.
   */
  readonly timeoutMs: number;
  /** Once this signal is aborted, the response must be complete within `timeoutMs`. */
  readonly ending?: AbortSignal | undefined;
  /**
   * Whether to send the request over a new connection instead of an idle one. The server may close an idle
   * connection at any moment, and a request that is sent over it at that moment counts as lost, and may have
   * been charged.
   */
  readonly isFresh?: boolean | undefined;
  /** Called right before the request is written. From then on, the service may process and charge it. */
  readonly onSent?: (() => void) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** The names are lower-cased. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Sends HTTP requests. If no complete response arrives, throws a `network` Failure. Its `code` states whether
 * the service may have received and charged the request: `UNREACHABLE` (impossible), `BROKEN` and `NO_ANSWER`
 * (possible).
 */
export interface Transport {
  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Identifies a call in the queue of a lane; unique within the process. */
export type Ticket = number;

/**
 * Permission to send a call under a rate limit, or how long to wait before requesting the permission again.
 */
export interface WindowSlot {
  /** 0 means that the call may be sent now. */
  readonly waitMs: number;
  /** The lane's rate limit in calls per minute, as an earlier response stated it; null if none did. */
  readonly known: number | null;
  /**
   * True if the call waits only for other calls that are ahead in the queue. Such a wait always ends, so
   * callers accept it however long it is.
   */
  readonly queued?: boolean;
}

/**
 * Rate limits. Calls are counted for all trdr processes of a machine, or for all machines of a store. A lane
 * is a set of calls that share one rate limit.
 */
export interface RateWindows {
  /**
   * Requests permission to send one call in `lane`, which allows `limit` calls per minute. The first request
   * with a ticket adds the ticket to the queue. If the result is a wait, the caller waits and then requests
   * again with the same ticket.
   */
  take(lane: string, limit: number, ticket?: Ticket): Promise<WindowSlot>;
  /** Removes a ticket from the queue. */
  drop(lane: string, ticket: Ticket): Promise<void>;
  /**
   * Counts a call as leaving now, `lateMs` milliseconds after its permission, because it waited for another lane.
   * Returns false if the permission has expired, so that the call must request it again.
   */
  depart(lane: string, ticket: Ticket, lateMs: number): Promise<boolean>;
  block(lane: string, ms: number): Promise<void>;
  learn(lane: string, limit: number): Promise<void>;
}

/**
 * The cost of a paid call, or of several combined calls. Never contains an API key or a body; contains a subject only
 * in the path of a raw call to an unknown endpoint.
 */
export interface LedgerEntry {
  readonly time: number;
  readonly command: string;
  readonly profile: string;
  /** The name of the machine; absent from entries that older versions of trdr wrote. */
  readonly host?: string | undefined;
  /** The agent that ran the command; absent if a person or a job did. */
  readonly agent?: string | undefined;
  readonly endpoint: string;
  /** The HTTP status; null if no response arrived. */
  readonly status: number | null;
  /** The CU that were certainly charged. */
  readonly cu: number;
  /** The maximum that may have been charged in addition to `cu`, in CU. */
  readonly cuAtMost?: number | undefined;
  /** True if the price of the call is not known. */
  readonly unpriced?: boolean | undefined;
  readonly requestId?: string | undefined;
  /** The number of calls that the entry summarizes; 1 if absent. */
  readonly calls?: number | undefined;
}

/** A call that is about to be sent. */
export interface PaidCall {
  readonly endpoint: string;
  /** The maximum cost in CU; undefined if the price is not known. */
  readonly most: number | undefined;
}

/** What an answered call cost. */
export type CallCost = Pick<LedgerEntry, 'status' | 'cu' | 'cuAtMost' | 'unpriced' | 'requestId'>;

/**
 * Records paid calls, for this machine or for all machines of a store. A call is recorded with its maximum
 * cost before the call is sent, so that this amount stays recorded if the process dies.
 */
export interface Ledger {
  /**
   * Records a call right before the call is sent. If the rest of a budget is too small only because of calls
   * in flight, waits until they end or the signal is aborted. If a budget cannot cover the call, rejects with
   * a `limit` Failure, whose `retryAfter` is the number of seconds until the budget renews.
   */
  begin(call: PaidCall, signal?: AbortSignal): Promise<Slot<Promise<void>>>;
  /** The budgets that limit the recorded calls; absent if the ledger has no budgets. */
  budgets?(): Promise<readonly BudgetState[]>;
}

/**
 * The place of one call that is being paid for: in the spending limit of the run, in the ledger, or in both. After one
 * of the three methods was called, all do nothing.
 */
export interface Slot<Done = void, Cost = CallCost> {
  /** The call was answered: its actual cost replaces its maximum cost. */
  settle(cost: Cost): Done;
  /** The call may have been charged, but its cost is not known: its maximum cost stays counted and recorded. */
  lose(end?: Pick<CallCost, 'requestId'> & { readonly status?: number | null }): Done;
  /** The call was not sent, or is known to be free. */
  release(): Done;
}

/** Events that `core` reports to its caller; `cli` prints them on stderr. */
export type Notice =
  | { readonly kind: 'wait'; readonly ms: number; readonly reason: string }
  | {
      readonly kind: 'retry';
      readonly attempt: number;
      readonly of: number;
      readonly ms: number;
      readonly reason: string;
    }
  | { readonly kind: 'lost'; readonly endpoint: string; readonly cuAtMost: number }
  /**
   * An answer differs from the service description; reported once per run for each field of a record type.
   */
  | { readonly kind: 'difference'; readonly call: string; readonly difference: FieldDifference }
  | { readonly kind: 'trace'; readonly line: string };

/** A parsed answer of the service: `known` has the fields that match the description. */
export type Result<Id extends EndpointId> = KnownAnswerOf<Id> & {
  /** The record as received, for machine formats, the cache and journals. */
  readonly record: Sent;
  readonly meta: Known<Meta> | undefined;
  readonly requestId: string | undefined;
  readonly charge: Charge;
  readonly headers: Readonly<Record<string, string>>;
};

export type RequestParts<Id extends EndpointId> = Partial<RequestOf<Id>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** If true, an attempt that may have been charged is not retried; the caller decides whether to retry. */
  readonly once?: boolean | undefined;
  /**
   * True if the same request was sent before and its answer was lost. The request is then sent only if the
   * confirmed cost covers both requests.
   */
  readonly repeat?: boolean | undefined;
  /** The latest time by the monotonic clock at which the rate limit may let the call start. */
  readonly until?: number | undefined;
}

/** The allowances that a key has left; null means unlimited, or not stated by the service. */
export interface KeyMeters {
  readonly units: number | null;
  readonly reveals: number | null;
}

/** What a budget has left. */
export interface BudgetLeft {
  readonly period?: string | undefined;
  readonly left: number;
  readonly renewsAt: number;
}

/** What is left to spend, by the last answers, less what this run may have spent since they were requested. */
export interface Remainder {
  /** What the key has left, by the last answer of `me`; undefined before the first one. Reveals are not subtracted. */
  readonly key: KeyMeters | undefined;
  /** The units that the key has used this month, with those of this run since the last answer; null if not known. */
  readonly unitsUsed: number | null;
  readonly budgets: readonly BudgetLeft[];
  /** Called before a request; the returned function takes what the answer states. */
  request(): (stated: {
    readonly me?: Known<Me> | undefined;
    readonly budgets?: readonly BudgetLeft[] | undefined;
  }) => void;
}

/**
 * The API of one service with one key. Rejects with a `Failure`, or with the reason of the signal if the
 * signal is aborted.
 */
export interface Client {
  call<Id extends EndpointId>(id: Id, ask: RequestParts<Id>, options?: CallOptions): Promise<Result<Id>>;
  /** The possible cost of a call. Sends nothing. */
  bounds<Id extends EndpointId>(id: Id, ask: RequestParts<Id>): PriceBounds;
  /** Sends a request to any path, for `trdr api`. The rate limit, ledger and spending limit apply. */
  raw(
    request: { readonly method: string; readonly path: string; readonly body?: string | undefined },
    options?: CallOptions,
  ): Promise<HttpAnswer>;
  /** Pays for one minute of the WebSocket before it begins. */
  reserveMinute(signal: AbortSignal): Promise<Slot>;
  /** The CU that this run has spent. `atMost` includes the possible cost of calls whose answers were lost. */
  readonly spent: { readonly cu: number; readonly atMost: number; readonly calls: number };
  readonly left: Remainder;
  /** The key's limit of requests per minute; null if not known yet. */
  readonly ratePerMinute: number | null;
  /**
   * Whether the confirmed cost and the spending limit cover another `cu`, in addition to everything that was spent,
   * was lost or is in flight.
   */
  affords(cu: number): boolean;
  close(): Promise<void>;
}
