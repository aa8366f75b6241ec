import type { Failure } from '../base/failure.ts';
import type { Bounds, Charge } from './endpoint.ts';
import type { EndpointId, KnownAnswerOf, RequestOf } from './endpoints.ts';
import type { Meta } from './envelope.ts';
import type { Difference, Known, Sent } from './known.ts';

/** One HTTP request, whole. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  /** Called when the request is about to be written: from here on it may have been served and charged. */
  readonly onSent?: (() => void) | undefined;
}

/** One HTTP answer, read to its end. */
export interface HttpAnswer {
  readonly status: number;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Sends requests. Throws a `network` Failure whose `code` tells whether the request can have reached the
 * service: `UNREACHABLE` (it can't have), `BROKEN` and `NO_ANSWER` (it may have been served and charged).
 */
export interface Transport {
  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Names one call while it waits for its slot; unique within the process. */
export type Ticket = number;

/** A slot, or how long to wait for one. */
export interface Slot {
  /** 0: the call may go now. */
  readonly waitMs: number;
  /** The limit of the lane, where an earlier call learned it. */
  readonly known: number | null;
  /** The wait is for calls that asked earlier, not for a block: it ends, however long it is. */
  readonly queued?: boolean;
}

/** The rate windows that all trdr processes of a machine share, or of all machines. */
export interface RateWindows {
  /**
   * Takes a slot in `lane`, whose window holds `limit` calls. A ticket books a place in the queue, where
   * there is one: ask again with the same ticket after the wait.
   */
  take(lane: string, limit: number, ticket?: Ticket): Promise<Slot>;
  /** Gives up a booked place that will not be used. */
  drop(lane: string, ticket: Ticket): Promise<void>;
  /** Lets nobody take a slot in `lane` for `ms`, as a 429 asks. */
  block(lane: string, ms: number): Promise<void>;
  /** Saves the limit learned for a lane. */
  learn(lane: string, limit: number): Promise<void>;
}

/** What one paid call cost. Never holds a key, a subject or a body. */
export interface LedgerEntry {
  readonly time: number;
  readonly command: string;
  readonly profile: string;
  /** The machine; absent in entries of older versions. */
  readonly host?: string | undefined;
  readonly endpoint: string;
  /** Null where no answer came. */
  readonly status: number | null;
  /** What is certain. */
  readonly cu: number;
  /** What may have been charged on top of that. */
  readonly cuAtMost?: number | undefined;
  /** The call has no known price. */
  readonly unpriced?: boolean | undefined;
  readonly requestId?: string | undefined;
  /** How many calls the entry sums up; one if absent. */
  readonly calls?: number | undefined;
}

/** A call that is about to be sent. */
export interface PaidCall {
  readonly endpoint: string;
  /** The most it can cost; undefined where no price is known. */
  readonly most: number | undefined;
}

/** What an answered call cost. */
export type CallCost = Pick<LedgerEntry, 'status' | 'cu' | 'cuAtMost' | 'unpriced' | 'requestId'>;

/**
 * Records what is paid for, on this machine or for all that share a store. A call is recorded before it is sent, as an
 * upper bound: a process that dies leaves the bound behind.
 */
export interface Ledger {
  /**
   * Called after the limiter, right before the bytes are sent. Rejects with a `limit` Failure where a budget cannot
   * hold the call; its `retryAfter` is the time until the budget renews.
   */
  begin(call: PaidCall): Promise<Reservation>;
}

/** A call that was recorded; the first of these ends it, the others then do nothing. */
export interface Reservation {
  /** The call was answered: what it cost replaces the bound. */
  settle(cost: CallCost): Promise<void>;
  /** The call may have been charged, and no answer will show it: the bound stays. */
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
  /** An answer differs from its description; each field of a form once per run. */
  | { readonly kind: 'difference'; readonly call: string; readonly difference: Difference }
  | { readonly kind: 'trace'; readonly line: string };

/** An answer of the service, read: `known` has the fields that are as described. */
export type Result<Id extends EndpointId> = KnownAnswerOf<Id> & {
  /** As it came: what machine formats print, and what is saved. */
  readonly record: Sent;
  readonly meta: Known<Meta> | undefined;
  readonly requestId: string | undefined;
  readonly charge: Charge;
  readonly headers: Readonly<Record<string, string>>;
};

/** What a caller gives of a request: only the parts its endpoint has. */
export type RequestParts<Id extends EndpointId> = Partial<RequestOf<Id>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** An attempt that may have been charged is not repeated here; the caller decides. */
  readonly once?: boolean | undefined;
  /** Repeats a call whose answer was lost: it is sent only if what was agreed to holds both. */
  readonly repeat?: boolean | undefined;
}

/** One key at one base URL: typed requests in, typed answers out, `Failure`s thrown. */
export interface Client {
  call<Id extends EndpointId>(id: Id, ask: RequestParts<Id>, options?: CallOptions): Promise<Result<Id>>;
  /** What a call can cost, without making it. */
  bounds<Id extends EndpointId>(id: Id, ask: RequestParts<Id>): Bounds;
  /** Any path, raw: for `trdr api`. Still limited, ledgered and held to the ceiling. */
  raw(
    request: { readonly method: string; readonly path: string; readonly body?: string | undefined },
    options?: CallOptions,
  ): Promise<HttpAnswer>;
  /** CU that this run has spent, and may have spent where an answer was lost. */
  readonly spent: { readonly cu: number; readonly atMost: number; readonly calls: number };
  /**
   * Whether calls that cost up to `cu` may be sent although the answers of others were lost: what the user agreed to
   * holds them beside all that was spent, lost or is in flight.
   */
  mayRepeat(cu: number): boolean;
  close(): Promise<void>;
}

/** The lookups whose answers are kept between runs. */
export type CachedEndpoint = Extract<EndpointId, 'user.handle' | 'user.wallet' | 'user.id'>;

/** A kept answer: a 200 with its record, or a `NOT_OBSERVED` without one. */
export interface CachedAnswer {
  /** Epoch ms at which the service gave it. */
  readonly time: number;
  readonly status: 200 | 404;
  /** The user record as it came; null on a miss. The reader must parse it, because a file is untrusted data. */
  readonly record: unknown;
}

/**
 * Answers that outlive a run, bound to one base URL and key; `state` keeps them on disk. `subject` is in
 * normal form: handle lower-cased without @, EVM address and id lower-cased. Ages are judged by the reader.
 */
export interface AnswerCache {
  get(
    endpoint: CachedEndpoint,
    subject: string,
  ): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  put(endpoint: CachedEndpoint, subject: string, answer: CachedAnswer): void | Promise<void>;
  /** Asks once for all machines that want the same; absent where none share their answers. */
  readonly flight?: AnswerFlight;
}

/**
 * Gives the answer that another machine has or is about to get; a Failure where that machine failed. If nobody else
 * asks, it runs `ask`, which saves its own answer or returns the failure to share, and gives undefined.
 */
export type AnswerFlight = (
  wanted: {
    readonly endpoint: CachedEndpoint;
    readonly subject: string;
    readonly maxAgeMs: number;
    readonly missAgeMs: number;
  },
  ask: () => Promise<Failure | undefined>,
  signal?: AbortSignal,
) => Promise<CachedAnswer | Failure | undefined>;

/** Answers of a run that do not fit in memory; `state` keeps them in a temporary file. */
export interface Overflow {
  /** False only if there is no answer for the key. */
  mayHold(key: string): boolean;
  put(entries: readonly (readonly [key: string, text: string])[]): Promise<void>;
  get(key: string): Promise<string | undefined>;
  close(): Promise<void>;
}
