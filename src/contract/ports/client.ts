import type { Failure } from '../../base/failure.ts';
import type { PriceBounds } from '../endpoint.ts';
import type { EndpointId, KnownAnswerOf, RequestOf } from '../endpoints.ts';
import type { Meta } from '../errors.ts';
import type { FieldDifference, Known, Sent } from '../read-record.ts';
import type { Me } from '../records/account.ts';
import type { Slot } from './ledger.ts';
import type { HttpAnswer } from './transport.ts';

/** Events of a call, which the command line prints on stderr. */
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
  /**
   * An answer differs from the description; reported once per run for each field of a record type.
   */
  | { readonly kind: 'difference'; readonly call: string; readonly difference: FieldDifference };

/** A parsed answer: `known` has the fields that match the description. */
export type Result<Id extends EndpointId> = KnownAnswerOf<Id> & {
  /** The record as received, for machine formats, the cache and journals. */
  readonly record: Sent;
  readonly meta: Known<Meta> | undefined;
  readonly requestId: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
};

export type RequestParts<Id extends EndpointId> = Partial<RequestOf<Id>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * If true, an attempt that may have been charged is not repeated; the caller decides whether to.
   */
  readonly once?: boolean | undefined;
  /**
   * True if the same request was sent before and its answer was lost. It is then sent only if the
   * confirmed cost covers both.
   */
  readonly repeat?: boolean | undefined;
  /** The latest time by the monotonic clock at which the rate limit may let the call start. */
  readonly until?: number | undefined;
  /** Whether the run does without an answer: a 429 then delays neither this call nor others. */
  readonly optional?: boolean | undefined;
}

/** What a key has left; null means unlimited, or not stated by the service. */
export interface KeyMeters extends Readonly<Record<MeterName, number | null>> {
  /** Whether the units were granted only once, and never renew. */
  readonly isGrantedOnce: boolean;
}

export type MeterName = 'units' | 'reveals';

export interface BudgetLeft {
  readonly period?: string | undefined;
  readonly left: number;
  readonly renewsAt: number;
}

/** Takes what the answer of a request states. */
export type Learn = (stated: {
  readonly me?: Known<Me> | undefined;
  readonly budgets?: readonly BudgetLeft[] | undefined;
}) => void;

/**
 * What is left by the last answers, less what this run may have spent since they were requested.
 */
export interface Remainder {
  /**
   * The allowance of the last answer of `me`; undefined before the first one. Reveals are not
   * subtracted.
   */
  readonly key: KeyMeters | undefined;
  /** The CU used this month, with those of this run since the last answer; null if not known. */
  readonly unitsUsed: number | null;
  readonly budgets: readonly BudgetLeft[];
  /** Called before a request; the returned function takes what the answer states. */
  request(): Learn;
}

/** The service with one key. Rejects with a `Failure`, or with the reason of an aborted signal. */
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
  /**
   * What this run has spent, in CU. `atMost` includes the possible cost of calls whose answers were
   * lost. Calls in flight, which `calls` includes, may add `inFlight`.
   */
  readonly spent: {
    readonly cu: number;
    readonly atMost: number;
    /** What of `atMost` are minutes of the WebSocket that the service may have charged. */
    readonly minutes: number;
    /** What of `minutes` is reserved for an open WebSocket, and may be released. */
    readonly openMinutes: number;
    readonly inFlight: number;
    readonly calls: number;
    /**
     * The wallets that answers have revealed, and with those of lost answers and calls in flight.
     */
    readonly reveals: number;
    readonly revealsAtMost: number;
  };
  /** The failure of the last attempt of a call; undefined after an answer. */
  readonly trouble: Failure | undefined;
  readonly left: Remainder;
  /** The limit of the key; null if not known yet. */
  readonly ratePerMinute: number | null;
  /** Whether the confirmed cost and the spending limit cover another `cu`. */
  affords(cu: number): boolean;
  close(): Promise<void>;
}
