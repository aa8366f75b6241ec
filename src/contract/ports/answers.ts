import type { Failure } from '../../base/failure.ts';

export type UserEndpoint = 'user.handle' | 'user.wallet' | 'user.id';

/** The feeds whose pages are cached, each under its place in the feed. */
const cachedFeeds = [
  'thesis.all',
  'thesis.token',
  'thesis.user',
  'thesis.userToken',
  'launchpad.callouts',
  'launchpad.callouts.coin',
  'launchpad.callouts.wallet',
] as const;
export type CachedFeed = (typeof cachedFeeds)[number];

export const isFeed = (endpoint: string): boolean => cachedFeeds.some((feed) => feed === endpoint);

/**
 * The endpoints whose answers are cached between runs. The answer to a batch is cached per handle,
 * as if each had been requested with `user.pnl`.
 */
export type CachedEndpoint =
  | UserEndpoint
  | CachedFeed
  | 'user.pnl'
  | 'launchpad.user'
  | 'launchpad.board';

/** A 200 with its record, or a 404 `NOT_OBSERVED` without one. */
export interface CachedAnswer {
  /** When the service sent the answer, epoch ms. */
  readonly time: number;
  readonly status: 200 | 404;
  /** Null for a 404. Readers must validate it, because the cache may have been edited. */
  readonly record: unknown;
}

/**
 * The saved answers for one base URL and key, on disk or in the store. Subjects are normalized:
 * handles are lower-cased and without @, EVM addresses and ids lower-cased. Callers decide whether
 * an answer is too old.
 */
export interface AnswerCache {
  /**
   * The answers in the order of the subjects. Reads only the cache of this machine; `claim` also
   * searches the store.
   */
  get(endpoint: CachedEndpoint, subjects: readonly string[]): readonly (CachedAnswer | undefined)[];
  /** Saves answers by their subjects. */
  put(endpoint: CachedEndpoint, answers: ReadonlyMap<string, CachedAnswer>): Promise<void>;
  /**
   * Claims an answer, so that other machines wait for it instead of requesting it. Absent without a
   * shared store.
   */
  readonly claim?: (wanted: WantedAnswer, signal?: AbortSignal) => Promise<Claim>;
  /**
   * Gives other machines an answer that this machine keeps elsewhere. Absent without a shared
   * store.
   */
  readonly share?: (
    endpoint: CachedEndpoint,
    subject: string,
    answer: CachedAnswer,
  ) => Promise<void>;
}

/**
 * The endpoints that one machine requests for all: the cached ones, and two that are not cached.
 */
export type SharedEndpoint = CachedEndpoint | 'user.resolve' | 'me';

/** An answer that machines share; a 202 means that there is no answer yet. */
export interface SharedAnswer extends Omit<CachedAnswer, 'status'> {
  readonly status: 200 | 202 | 404;
}

export interface WantedAnswer {
  readonly endpoint: SharedEndpoint;
  readonly subject: string;
  /** The maximum age of a 200. */
  readonly maxAgeMs: number;
  /** The maximum age of a 202 or 404. */
  readonly missAgeMs: number;
}

/**
 * Where an answer comes from: the cache; another machine, whose request failed or is in progress;
 * or this machine, which must request it and then call `end`.
 */
export type Claim =
  | { readonly by: 'cache'; readonly answer: SharedAnswer }
  | { readonly by: 'other'; readonly failure?: Failure | undefined }
  | { readonly by: 'us'; readonly end: EndClaim };

/**
 * Ends a claim and passes on to the waiting machines what cannot be cached. Without an outcome, one
 * of them requests the answer.
 */
export type EndClaim = (outcome?: SharedAnswer | Failure) => Promise<void>;

/** Does the work of a claim and ends it, even if the work fails: other machines wait until then. */
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

/** The answers of one run, of which those that do not fit in memory are on disk. */
export interface RunAnswers {
  get(key: string): unknown;
  /** Returns false if the disk cannot store it. */
  put(key: string, answer: unknown): boolean;
  close(): Promise<void>;
}
