import type { Failure } from '../base/failure.ts';
import type { EndpointId } from './endpoints.ts';

/** The lookups of a user. */
export type UserEndpoint = Extract<EndpointId, 'user.handle' | 'user.wallet' | 'user.id'>;

/** The endpoints whose answers are cached between runs. Batches of numbers are cached as single answers. */
export type CachedEndpoint = UserEndpoint | Extract<EndpointId, 'user.pnl'>;

/** A cached answer: a 200 with its record, or a `NOT_OBSERVED` without one. */
export interface CachedAnswer {
  /** When the service sent it, epoch ms. */
  readonly time: number;
  readonly status: 200 | 404;
  /**
   * The record as received; null for a miss. The reader must validate it, because files are untrusted.
   */
  readonly record: unknown;
}

/**
 * Cached answers of one base URL and key, saved on disk by `state`. `subject` is in normal form: handles
 * lower-cased without @, EVM addresses and ids lower-cased. The reader judges the age.
 */
export interface AnswerCache {
  get(
    endpoint: CachedEndpoint,
    subject: string,
  ): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  put(endpoint: CachedEndpoint, subject: string, answer: CachedAnswer): void | Promise<void>;
  /** Requests an answer once for all machines that want it; absent if machines do not share answers. */
  readonly flight?: AnswerFlight;
  /** Claims an answer for this machine, for callers that request several with one call. */
  readonly claim?: (wanted: WantedAnswer) => Promise<Claim>;
}

/** The endpoints whose answers machines share for as long as they are wanted, beside those that are cached. */
export type SharedEndpoint = CachedEndpoint | Extract<EndpointId, 'user.resolve' | 'me'>;

/** An answer that machines share: a cached one, or a 202 that tells that there is none yet. */
export type SharedAnswer = Omit<CachedAnswer, 'status'> & { readonly status: 200 | 202 | 404 };

/** An answer that is wanted, and how old it may be. */
export interface WantedAnswer {
  readonly endpoint: SharedEndpoint;
  readonly subject: string;
  readonly maxAgeMs: number;
  /** The same for an answer other than a 200. */
  readonly missAgeMs: number;
  /** How long another machine that requests it is waited for; 2 minutes unless given. */
  readonly waitMs?: number | undefined;
}

/**
 * Returns the answer that another machine has or is about to get, or its Failure. If no other machine requests it, runs
 * `ask`, and returns undefined. `ask` saves a cached answer itself; it returns the failure, or an answer that is not cached.
 */
export type AnswerFlight = (
  wanted: WantedAnswer,
  ask: () => Promise<Failure | SharedAnswer | undefined>,
  signal?: AbortSignal,
) => Promise<SharedAnswer | Failure | undefined>;

/** Who gets an answer: this machine, which must end its claim; another machine; or it is here already. */
export type Claim =
  | { readonly by: 'cache'; readonly answer: SharedAnswer }
  | { readonly by: 'other' }
  | { readonly by: 'us'; readonly end: () => Promise<void> };

/** Answers of a run that do not fit in memory; `state` writes them to a temporary file. */
export interface Overflow {
  /** False only if the key has no answer for certain. */
  mayHold(key: string): boolean;
  put(entries: readonly (readonly [key: string, text: string])[]): Promise<void>;
  get(key: string): Promise<string | undefined>;
  close(): Promise<void>;
}
