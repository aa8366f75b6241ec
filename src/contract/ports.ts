import type { BudgetState } from './budget.ts';
import type { Charge, PriceBounds } from './endpoint.ts';
import type { EndpointId, KnownAnswerOf, RequestOf } from './endpoints.ts';
import type { Meta } from './envelope.ts';
import type { FieldDifference, Known, Sent } from './read-record.ts';

/** An HTTP request. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  /** Called right before the request is written: from then on it may be served and charged. */
  readonly onSent?: (() => void) | undefined;
}

/** A complete HTTP response. */
export interface HttpAnswer {
  readonly status: number;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Sends requests. Throws a `network` Failure whose `code` says whether the request may have reached the
 * service: `UNREACHABLE` (it cannot have), `BROKEN` and `NO_ANSWER` (it may have been served and charged).
 */
export interface Transport {
  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Identifies a call while it waits for its slot; unique within the process. */
export type Ticket = number;

/** A slot, or how long to wait for one. */
export interface WindowSlot {
  /** 0: the call may go now. */
  readonly waitMs: number;
  /** The limit of the lane, if an earlier call learned it. */
  readonly known: number | null;
  /** The wait is for calls ahead in the queue, not for a block, so it ends in any case. */
  readonly queued?: boolean;
}

/** The rate windows shared by all trdr processes of a machine, or by all machines of a store. */
export interface RateWindows {
  /**
   * Takes a slot in `lane`, whose window holds `limit` calls. If there is a queue, a ticket reserves a
   * place in it: call again with the same ticket after the wait.
   */
  take(lane: string, limit: number, ticket?: Ticket): Promise<WindowSlot>;
  /** Gives up a place in the queue that will not be used. */
  drop(lane: string, ticket: Ticket): Promise<void>;
  /** Blocks `lane` for `ms`, as a 429 demands. */
  block(lane: string, ms: number): Promise<void>;
  /** Saves the limit learned for a lane. */
  learn(lane: string, limit: number): Promise<void>;
}

/** What one paid call cost. Never contains a key, a subject or a body. */
export interface LedgerEntry {
  readonly time: number;
  readonly command: string;
  readonly profile: string;
  /** The machine; absent in entries of older versions. */
  readonly host?: string | undefined;
  readonly endpoint: string;
  /** Null if no answer arrived. */
  readonly status: number | null;
  /** CU that were charged for certain. */
  readonly cu: number;
  /** Upper bound, if more may have been charged. */
  readonly cuAtMost?: number | undefined;
  /** The call has no known price. */
  readonly unpriced?: boolean | undefined;
  readonly requestId?: string | undefined;
  /** How many calls the entry summarizes; one if absent. */
  readonly calls?: number | undefined;
}

/** A call that is about to be sent. */
export interface PaidCall {
  readonly endpoint: string;
  /** Maximum cost; undefined if no price is known. */
  readonly most: number | undefined;
}

/** What an answered call cost. */
export type CallCost = Pick<LedgerEntry, 'status' | 'cu' | 'cuAtMost' | 'unpriced' | 'requestId'>;

/**
 * Records paid calls, on this machine or for all machines of a store. A call is recorded with its upper
 * bound before it is sent, so that the bound remains if the process dies.
 */
export interface Ledger {
  /**
   * Called after the rate limiter, right before the request is sent. Rejects with a `limit` Failure if a budget cannot
   * cover the call; its `retryAfter` is the time until the budget renews. Waits for calls in flight if they may leave
   * room, until the signal is aborted.
   */
  begin(call: PaidCall, signal?: AbortSignal): Promise<Reservation>;
  /** The budgets that apply, and what is left of them; absent in a ledger that only records. */
  budgets?(): Promise<readonly BudgetState[]>;
}

/** A recorded call. The first of these methods ends it; later calls have no effect. */
export interface Reservation {
  /** The call was answered: its cost replaces the bound. */
  settle(cost: CallCost): Promise<void>;
  /** The call may have been charged and no answer will tell: the bound remains. */
  lose(end: { readonly status?: number | null; readonly requestId?: string | undefined }): Promise<void>;
  /** The call was not sent, or is known to be free. */
  release(): Promise<void>;
}

/** Events that the core reports; `cli` words them on stderr. */
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
  /** An answer differs from its description; reported once per field and form in a run. */
  | { readonly kind: 'difference'; readonly call: string; readonly difference: FieldDifference }
  | { readonly kind: 'trace'; readonly line: string };

/** A parsed answer of the service: `known` has the fields that match the description. */
export type Result<Id extends EndpointId> = KnownAnswerOf<Id> & {
  /** The record as received: machine formats print it, and it is what gets saved. */
  readonly record: Sent;
  readonly meta: Known<Meta> | undefined;
  readonly requestId: string | undefined;
  readonly charge: Charge;
  readonly headers: Readonly<Record<string, string>>;
};

/** The parts of a request that its endpoint has. */
export type RequestParts<Id extends EndpointId> = Partial<RequestOf<Id>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Do not retry an attempt that may have been charged; the caller decides. */
  readonly once?: boolean | undefined;
  /** Repeats a call whose answer was lost: it is sent only if the confirmed cost covers both. */
  readonly repeat?: boolean | undefined;
}

/** What is left of a key's meters; null for a meter without a limit. */
export interface KeyMeters {
  readonly units: number | null;
  readonly reveals: number | null;
}

/** The service with one key at one base URL: typed requests and answers; errors are `Failure`s. */
export interface Client {
  call<Id extends EndpointId>(id: Id, ask: RequestParts<Id>, options?: CallOptions): Promise<Result<Id>>;
  /** What a call can cost. Sends nothing. */
  bounds<Id extends EndpointId>(id: Id, ask: RequestParts<Id>): PriceBounds;
  /** Requests any path, for `trdr api`. Rate limit, ledger and spending limit apply. */
  raw(
    request: { readonly method: string; readonly path: string; readonly body?: string | undefined },
    options?: CallOptions,
  ): Promise<HttpAnswer>;
  /** CU that this run has spent; `atMost` includes what lost answers may have cost. */
  readonly spent: { readonly cu: number; readonly atMost: number; readonly calls: number };
  /**
   * What is left, from the last answer of `me` and the calls since; undefined if this run has not requested
   * it.
   */
  readonly left: KeyMeters | undefined;
  /** The key's limit of requests per minute; null while unknown. */
  readonly ratePerMinute: number | null;
  /**
   * Whether calls of up to `cu` may be sent again after their answers were lost: the confirmed cost must
   * cover them in addition to everything that was spent, lost or is in flight.
   */
  mayRepeat(cu: number): boolean;
  close(): Promise<void>;
}
