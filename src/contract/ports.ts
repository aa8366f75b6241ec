import type { Failure } from '../base/failure.ts';
import type { BudgetState } from './budget.ts';
import type { Charge, PriceBounds } from './endpoint.ts';
import type { EndpointId, KnownAnswerOf, RequestOf } from './endpoints.ts';
import type { Meta } from './errors.ts';
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
  /** The server may close an idle connection at any moment; a request that it misses may have been charged. */
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

/** Of all processes of a machine, or all machines of a store. A lane is the calls that share one rate limit. */
export interface RateWindows {
  /**
   * How long to wait before calling again with the same ticket, which keeps the place in the queue.
   * `known` is the limit per minute that an earlier response stated. A wait that is only `queued` always ends.
   */
  take(
    lane: string,
    limit: number,
    /** Unique within the process. */
    ticket?: number,
  ): Promise<{ readonly waitMs: number; readonly known: number | null; readonly queued?: boolean }>;
  drop(lane: string, ticket: number): Promise<void>;
  /** Counts a call as leaving now, because it waited for another lane. False if its permission has expired. */
  depart(lane: string, ticket: number, lateMs: number): Promise<boolean>;
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

/** The place of a call in the spending limit, the ledger, or both. After one of the methods, all do nothing. */
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
  call<Id extends EndpointId>(
    id: Id,
    ask: RequestParts<Id>,
    options?: CallOptions,
  ): Promise<Result<Id>>;
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

export type UserEndpoint = Extract<EndpointId, 'user.handle' | 'user.wallet' | 'user.id'>;

/** The answer to a batch is cached per handle, as if each had been requested with `user.pnl`. */
export type CachedEndpoint = UserEndpoint | Extract<EndpointId, 'user.pnl'>;

/** A 404 stands for `NOT_OBSERVED`. */
export interface CachedAnswer {
  readonly time: number;
  readonly status: 200 | 404;
  /** Null for a 404. Readers must validate it, because the cache may have been edited. */
  readonly record: unknown;
}

/** For one base URL and key. `subject` is normalized; callers judge the age of an answer. */
export interface AnswerCache {
  /** Reads only the cache of this machine. `claim` also searches the store. */
  get(endpoint: CachedEndpoint, subject: string): CachedAnswer | undefined;
  put(endpoint: CachedEndpoint, subject: string, answer: CachedAnswer): void | Promise<void>;
  /** Other machines then wait, at most `waitMs`, instead of requesting it. Absent without a shared store. */
  readonly claim?: (wanted: WantedAnswer, signal?: AbortSignal) => Promise<Claim>;
}

/** The endpoints whose answers machines share. */
export type SharedEndpoint = CachedEndpoint | Extract<EndpointId, 'user.resolve' | 'me'>;

/** A 202 means that there is no answer yet. */
export type SharedAnswer = Omit<CachedAnswer, 'status'> & { readonly status: 200 | 202 | 404 };

export interface WantedAnswer {
  readonly endpoint: SharedEndpoint;
  readonly subject: string;
  readonly maxAgeMs: number;
  readonly missAgeMs: number;
  /** The longest wait for another machine; 2.5 minutes by default. */
  readonly waitMs?: number | undefined;
}

/** `other`: its request failed or is in progress. `us`: this machine must request it and then call `end`. */
export type Claim =
  | { readonly by: 'cache'; readonly answer: SharedAnswer }
  | { readonly by: 'other'; readonly failure?: Failure | undefined }
  | { readonly by: 'us'; readonly end: EndClaim };

/** Passes on what cannot be cached; without an outcome, a waiting machine requests the answer. */
export type EndClaim = (outcome?: SharedAnswer | Failure) => Promise<void>;

export async function withClaim<T>(
  claim:
    | { readonly by: 'cache' | 'other' }
    | { readonly by: 'us'; readonly end: EndClaim }
    | undefined,
  work: () => Promise<T>,
  outcomeOf: (done: T) => SharedAnswer | Failure | undefined,
): Promise<T> {
  let outcome: SharedAnswer | Failure | undefined;
  try {
    const done = await work();
    outcome = outcomeOf(done);
    return done;
  } finally {
    if (claim?.by === 'us') await claim.end(outcome);
  }
}

export interface RunAnswers {
  get(key: string): unknown;
  /** Returns false if the disk cannot store it. */
  put(key: string, answer: unknown): boolean;
  close(): Promise<void>;
}
