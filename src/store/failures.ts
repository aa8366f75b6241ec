import { Failure } from '../base/failure.ts';

/** Why a request to the store failed, as far as callers distinguish it. */
export type StoreCode =
  /** Not reachable, too slow, or the connection broke: the request may have been executed. */
  | 'STORE_AWAY'
  /** Out of memory or disk: nothing was written. */
  | 'STORE_FULL'
  /** Wrong password, or the user lacks a right. */
  | 'STORE_DENIED'
  /** Written by a newer trdr. */
  | 'STORE_NEWER'
  /** Not a server that trdr can use, or an invalid answer. */
  | 'STORE_UNFIT';

export const storeFailure = (code: StoreCode, message: string, hint?: string, cause?: unknown): Failure =>
  new Failure('network', message, { code, hint, cause, retryable: code === 'STORE_AWAY' });

export const isStoreFailure = (error: unknown, ...codes: readonly StoreCode[]): error is Failure =>
  error instanceof Failure && codes.some((code) => code === error.code);

/** The failure for an error reply. Replies can quote arguments, so only their first word is used. */
export function failureOfReply(message: string, where: string): Failure {
  const word = /^[A-Z]+/.exec(message)?.[0] ?? 'ERR';
  switch (word) {
    case 'OOM':
    case 'MISCONF':
      return storeFailure(
        'STORE_FULL',
        `the store at ${where} is full (${word})`,
        'raise maxmemory or free disk space; "trdr store clear cache" removes cached answers',
      );
    case 'WRONGPASS':
    case 'NOAUTH':
      return storeFailure(
        'STORE_DENIED',
        `the store at ${where} rejected the user or password`,
        'run "trdr store login" again, or check TRDR_STORE_PASSWORD',
      );
    case 'NOPERM':
      return storeFailure(
        'STORE_DENIED',
        `the store user lacks a right: ${rightOf(message)}`,
        'compare its ACL with the line in docs/store.md; "trdr store check" lists what is missing',
      );
    case 'LOADING':
    case 'MASTERDOWN':
    case 'READONLY':
    case 'UNBLOCKED':
    case 'CLUSTERDOWN':
    case 'TRYAGAIN':
    case 'BUSY':
    case 'UNKILLABLE':
      return storeFailure(
        'STORE_AWAY',
        `the store at ${where} is not ready (${word})`,
        'try again shortly: it may be starting or failing over',
      );
    default:
      return storeFailure(
        'STORE_UNFIT',
        `the store at ${where} answered with an error (${word})`,
        'run "trdr store check"',
      );
  }
}

/** NOPERM replies name the command or the key pattern, never a value. */
const rightOf = (message: string) => /'([a-z|]+)' command/i.exec(message)?.[1] ?? 'access to its keys';

/**
 * Whether the store is temporarily unusable, so that callers continue without it; other failures are
 * errors.
 */
export const unusable = (error: unknown): error is Failure =>
  isStoreFailure(error, 'STORE_AWAY', 'STORE_FULL');
