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
  /** The longest wait for the response to begin, and to continue. See `LONGEST_RESPONSE`. */
  readonly timeoutMs: number;
  /** Once aborted, the response must be complete within `timeoutMs`. */
  readonly ending?: AbortSignal | undefined;
  /**
   * The server may close an idle connection at any moment; a request that it misses may have been charged.
   */
  readonly isFresh?: boolean | undefined;
  /** Called right before the request is written. From then on, it may be charged. */
  readonly onSent?: (() => void) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** The names are lower-cased. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The `code` of its `network` Failure states whether it may have been charged: not if `UNREACHABLE`. */
export interface Transport {
  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Identifies a call in the queue of a lane; unique within the process. */
export type Ticket = number;

export interface WindowSlot {
  /** 0 means that the call may be sent now. */
  readonly waitMs: number;
  /** The limit in calls per minute, as an earlier response stated it. */
  readonly known: number | null;
  /** Whether the call only waits for others ahead of it. Such a wait always ends, however long it is. */
  readonly queued?: boolean;
}

/**
 * Of all processes of a machine, or all machines of a store. A lane is the calls that share one rate limit.
 */
export interface RateWindows {
  /**
   * If the result is a wait, the caller asks again with the same ticket, which keeps its place in the queue.
   */
  take(lane: string, limit: number, ticket?: Ticket): Promise<WindowSlot>;
  drop(lane: string, ticket: Ticket): Promise<void>;
  /**
   * Counts a call as leaving now, because it waited for another lane. False if its permission has expired.
   */
  depart(lane: string, ticket: Ticket, lateMs: number): Promise<boolean>;
  block(lane: string, ms: number): Promise<void>;
  learn(lane: string, limit: number): Promise<void>;
}

/** Never contains an API key or a body; contains a subject only in the path of a raw call. */
export interface LedgerEntry {
  readonly time: number;
  readonly command: string;
  readonly profile: string;
  /** Absent from entries of older versions. */
  readonly host?: string | undefined;
  /** The agent that ran the command; absent if a person or a job did. */
  readonly agent?: string | undefined;
  readonly endpoint: string;
  /** Null if no response arrived. */
  readonly status: number | null;
  /** Certainly charged. */
  readonly cu: number;
  /** May have been charged in addition to `cu`. */
  readonly cuAtMost?: number | undefined;
  /** Whether the price of the call is not known. */
  readonly unpriced?: boolean | undefined;
  readonly requestId?: string | undefined;
  /** The number of calls that the entry summarizes; 1 if absent. */
  readonly calls?: number | undefined;
}

export interface PaidCall {
  readonly endpoint: string;
  readonly most: number | undefined;
}

export type CallCost = Pick<LedgerEntry, 'status' | 'cu' | 'cuAtMost' | 'unpriced' | 'requestId'>;

/** A call is recorded with its maximum cost before it is sent, so that this stays recorded after a crash. */
export interface Ledger {
  /** Rejects with a `limit` Failure if a budget does not cover it; `retryAfter` is when the budget renews. */
  begin(call: PaidCall, signal?: AbortSignal): Promise<Slot<Promise<void>>>;
  budgets?(): Promise<readonly BudgetState[]>;
}

/**
 * The place of a call in the spending limit, the ledger, or both. After one of the methods, all do nothing.
 */
export interface Slot<Done = void> {
  /** The actual cost replaces the maximum cost. */
  settle(cost: CallCost): Done;
  /** The cost is not known: the maximum stays counted and recorded. */
  lose(end?: Pick<CallCost, 'requestId'> & { readonly status?: number | null }): Done;
  release(): Done;
}

export type Notice =
  | { readonly kind: 'wait'; readonly ms: number; readonly reason: string }
  | {
      readonly kind: 'retry';
      readonly attempt: number;
      readonly of: number;
      readonly ms: number;
      readonly reason: string;
    }
  | {
      readonly kind: 'lost';
      readonly endpoint: string;
      readonly answers: number;
      readonly cuAtMost: number;
    }
  /** Reported once per run for each field of a record type. */
  | { readonly kind: 'difference'; readonly call: string; readonly difference: FieldDifference }
  | { readonly kind: 'trace'; readonly line: string };

export type Result<Id extends EndpointId> = KnownAnswerOf<Id> & {
  readonly record: Sent;
  readonly meta: Known<Meta> | undefined;
  readonly requestId: string | undefined;
  readonly charge: Charge;
  readonly headers: Readonly<Record<string, string>>;
};

export type RequestParts<Id extends EndpointId> = Partial<RequestOf<Id>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether an attempt that may have been charged is not repeated. */
  readonly once?: boolean | undefined;
  /** The answer of the same request was lost before: sent only if the confirmed cost covers both. */
  readonly repeat?: boolean | undefined;
  /** The latest time by the monotonic clock at which the rate limit may let the call start. */
  readonly until?: number | undefined;
}

/** Null means unlimited, or not stated by the service. */
export interface KeyMeters {
  readonly units: number | null;
  readonly reveals: number | null;
}

export interface BudgetLeft {
  readonly period?: string | undefined;
  readonly left: number;
  readonly renewsAt: number;
}

/** By the last answers, less what this run may have spent since they were requested. */
export interface Remainder {
  /** By the last answer of `me`; undefined before the first one. Reveals are not subtracted. */
  readonly key: KeyMeters | undefined;
  /** This month, with those of this run since the last answer; null if not known. */
  readonly unitsUsed: number | null;
  readonly budgets: readonly BudgetLeft[];
  /** Called before a request; the returned function takes what the answer states. */
  request(): (stated: {
    readonly me?: Known<Me> | undefined;
    readonly budgets?: readonly BudgetLeft[] | undefined;
  }) => void;
}

export interface Client {
  call<Id extends EndpointId>(id: Id, ask: RequestParts<Id>, options?: CallOptions): Promise<Result<Id>>;
  /** The possible cost of a call. Sends nothing. */
  bounds<Id extends EndpointId>(id: Id, ask: RequestParts<Id>): PriceBounds;
  /** Sends a request to any path. The rate limit, ledger and spending limit apply. */
  raw(
    request: { readonly method: string; readonly path: string; readonly body?: string | undefined },
    options?: CallOptions,
  ): Promise<HttpAnswer>;
  reserveMinute(signal: AbortSignal): Promise<Slot>;
  /** `atMost` includes the possible cost of calls whose answers were lost. Calls in flight, which `calls` includes, may add `inFlight`. */
  readonly spent: {
    readonly cu: number;
    readonly atMost: number;
    readonly inFlight: number;
    readonly calls: number;
  };
  readonly left: Remainder;
  readonly ratePerMinute: number | null;
  /** Whether the confirmed cost and the spending limit cover another `cu`. */
  affords(cu: number): boolean;
  close(): Promise<void>;
}
