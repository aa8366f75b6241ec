import type { Failure } from '../base/failure.ts';
import type { EndpointId } from './endpoints.ts';

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

export interface RunAnswers {
  get(key: string): unknown;
  /** Returns false if the disk cannot store it. */
  put(key: string, answer: unknown): boolean;
  close(): Promise<void>;
}
