import type { Failure } from '../base/failure.ts';
import type { EndpointId } from './endpoints.ts';

export type UserEndpoint = Extract<EndpointId, 'user.handle' | 'user.wallet' | 'user.id'>;

/**
 * The endpoints whose answers are cached between runs. The answer to a batch (`users.pnl`) is cached per
 * handle, as if each handle had been requested with `user.pnl`.
 */
export type CachedEndpoint = UserEndpoint | Extract<EndpointId, 'user.pnl'>;

/** A cached answer: a 200 with its record, or a 404 `NOT_OBSERVED` without one. */
export interface CachedAnswer {
  readonly time: number;
  readonly status: 200 | 404;
  /**
   * The record as received; null for a 404. Readers must validate the record, because the cache may have been
   * edited.
   */
  readonly record: unknown;
}

/**
 * The saved answers for one base URL and key, on disk or in the store. `subject` is normalized: handles are
 * lower-cased and without @, EVM addresses and ids are lower-cased. Callers decide whether an answer is too
 * old.
 */
export interface AnswerCache {
  /** Reads only the cache of this machine. `claim` also searches the store. */
  get(endpoint: CachedEndpoint, subject: string): CachedAnswer | undefined;
  put(endpoint: CachedEndpoint, subject: string, answer: CachedAnswer): void | Promise<void>;
  /**
   * Claims an answer, so that other machines that need it wait for it instead of requesting it; absent if machines do
   * not share answers. Waits while another machine requests the answer, but at most `waitMs`.
   */
  readonly claim?: (wanted: WantedAnswer, signal?: AbortSignal) => Promise<Claim>;
}

/**
 * The endpoints whose requests machines can share, so that only one of them sends the request: the cached
 * endpoints, and two that are not cached.
 */
export type SharedEndpoint = CachedEndpoint | Extract<EndpointId, 'user.resolve' | 'me'>;

/** An answer that machines share: a 200, a 404, or a 202, which means that there is no answer yet. */
export type SharedAnswer = Omit<CachedAnswer, 'status'> & { readonly status: 200 | 202 | 404 };

export interface WantedAnswer {
  readonly endpoint: SharedEndpoint;
  readonly subject: string;
  readonly maxAgeMs: number;
  readonly missAgeMs: number;
  /** How many milliseconds to wait while another machine requests the answer; 2.5 minutes by default. */
  readonly waitMs?: number | undefined;
}

/**
 * Where an answer comes from: the cache; another machine, whose request has failed or is still in progress; or this
 * machine, which must call `end` after its own request.
 */
export type Claim =
  | { readonly by: 'cache'; readonly answer: SharedAnswer }
  | { readonly by: 'other'; readonly failure?: Failure | undefined }
  | { readonly by: 'us'; readonly end: EndClaim };

/**
 * Ends a claim. An answer that can be cached must have been cached before; any other answer, or the failure, is passed
 * on to the waiting machines. Without an outcome, one of them requests the answer.
 */
export type EndClaim = (outcome?: SharedAnswer | Failure) => Promise<void>;

/** Runs `work`, and ends the claim afterwards with the outcome that other machines can use. */
export async function withClaim<T>(
  claim: { readonly by: 'cache' | 'other' } | { readonly by: 'us'; readonly end: EndClaim } | undefined,
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

/** Temporary storage on disk for the answers of a run that do not fit in memory. */
export interface RunAnswers {
  get(key: string): unknown;
  /** Stores plain data; returns false if the disk cannot store it. */
  put(key: string, answer: unknown): boolean;
  close(): Promise<void>;
}
