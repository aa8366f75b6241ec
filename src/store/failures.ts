import { Failure } from '../base/failure.ts';
import type { Hint } from '../base/failure-facts.ts';
import { errno } from '../base/files.ts';
import { tlsFailure } from '../base/tls-failure.ts';
import type { StoreAddress } from './address.ts';

type StoreCode =
  /**
   * Not reachable or too slow, or the connection broke. The server may have executed the command.
   */
  | 'STORE_AWAY'
  /**
   * This process lost its lease. It must read the state of the store
   * again.
   */
  | 'STORE_LEASE'
  /** Its memory is full, or it cannot save its data to disk. Nothing was written. */
  | 'STORE_FULL'
  | 'STORE_DENIED'
  /** The feed is that of an API key which another one has replaced. */
  | 'STORE_MOVED'
  | 'STORE_NEWER'
  | 'STORE_UNFIT';

export const storeFailure = (
  code: StoreCode,
  message: string,
  hint?: Hint,
  cause?: unknown,
): Failure =>
  new Failure('network', message, { code, hint, cause, retryable: code === 'STORE_AWAY' });

export const isStoreFailure = (error: unknown, ...codes: readonly StoreCode[]): error is Failure =>
  error instanceof Failure && codes.some((code) => code === error.code);

/** An error reply of the server; its text may quote arguments, which are never shown. */
interface ErrorReply {
  /** The kind of the error, such as OOM. */
  readonly word: string;
  readonly text: string;
  readonly where: string;
}

/**
 * Shows only the first word of the reply, and the command that is not permitted: the rest may quote
 * arguments.
 */
export function failureOfReply(text: string, where: string): Failure {
  const reply = { word: firstWord(text), text, where };
  const failureOf = replyFailures[reply.word] ?? otherReply;
  return failureOf(reply);
}

function firstWord(text: string): string {
  // Redis 7.0 does not name the command for which a script has no permission.
  if (/^ERR (The user executing the script|ACL failure in script)/.test(text)) return 'NOPERM';
  return /^[A-Z]+/.exec(text)?.[0] ?? 'ERR';
}

const notReady = ({ word, where }: ErrorReply): Failure =>
  storeFailure(
    'STORE_AWAY',
    `the store at ${where} is not ready (${word})`,
    'try again shortly; the server may be starting, failing over, or running a long script',
  );

/** What each kind of error reply means, by its first word. */
const replyFailures: Readonly<Record<string, (reply: ErrorReply) => Failure>> = {
  OOM: ({ word, where }) =>
    storeFailure('STORE_FULL', `the store at ${where} has no memory left (${word})`, {
      about: 'storeFull',
    }),
  MISCONF: ({ word, where }) =>
    storeFailure(
      'STORE_FULL',
      `the store at ${where} cannot save its data to disk (${word})`,
      'check the disk space and the file permissions on the server',
    ),
  NOAUTH: ({ where }) =>
    storeFailure('STORE_DENIED', `the store at ${where} requires a password`, {
      about: 'storeNeedsPassword',
    }),
  WRONGPASS: ({ where }) =>
    storeFailure(
      'STORE_DENIED',
      `the store at ${where} rejected the user or password`,
      where.includes('@') || where.includes('user=')
        ? { about: 'storePasswordWrong' }
        : 'add the user to the URL, as in redis://USER@host:6379/0, or check the password of the default user',
    ),
  NOPERM: missingPermission,
  DAMAGED: ({ text }) => damagedFailure(/^DAMAGED (\S+)/.exec(text)?.[1] ?? ''),
  LOADING: notReady,
  MASTERDOWN: notReady,
  READONLY: notReady,
  UNBLOCKED: notReady,
  CLUSTERDOWN: notReady,
  TRYAGAIN: notReady,
  BUSY: notReady,
  UNKILLABLE: notReady,
};

function missingPermission({ text }: ErrorReply): Failure {
  if (text.includes('run this command'))
    return storeFailure(
      'STORE_DENIED',
      'the store user has no permission for a command in a script of trdr',
      { about: 'scriptDenied' },
    );
  const command = commandIn(text);
  if (command === undefined)
    return storeFailure(
      'STORE_DENIED',
      'the store user has no permission for the keys of trdr in the store',
      'allow access to these keys: ACL SETUSER NAME ~trdr:*, or ~PREFIX:* if storePrefix is set',
    );
  return storeFailure(
    'STORE_DENIED',
    `the store user has no permission for ${command}`,
    `add the permission: ACL SETUSER NAME +${command}; docs/store.md has a line that adds all permissions`,
  );
}

/**
 * Undefined if the user may run the command, but not access the keys. The reply contains no values.
 */
const commandIn = (text: string) => /'([a-z|]+)' command/i.exec(text)?.[1];

function otherReply({ word, text, where }: ErrorReply): Failure {
  if (text.startsWith('ERR AUTH'))
    return storeFailure('STORE_UNFIT', `the store at ${where} has no password, but trdr sent one`, {
      about: 'storePasswordUnused',
    });
  return storeFailure('STORE_UNFIT', `the store at ${where} answered with an error (${word})`, {
    about: 'reply',
    code: word,
  });
}

/** Limits and sums that another program has overwritten would not limit spending any more. */
export const damagedFailure = (key: string): Failure =>
  storeFailure('STORE_UNFIT', 'a budget or a sum in the store is not a number', {
    about: 'damagedSum',
    key,
  });

/** Callers continue without the store, or wait. */
export const unusable = (error: unknown): error is Failure =>
  isStoreFailure(error, 'STORE_AWAY', 'STORE_FULL', 'STORE_LEASE');

export function ignoreUnusable(error: unknown): void {
  if (!unusable(error)) throw error;
}

/**
 * If the connection fails before it is ready, the address may belong to another kind of server, or
 * have the wrong scheme.
 */
export function awayFailure(
  address: StoreAddress,
  why: string,
  cause: unknown,
  { connected, ownCa }: { readonly connected: boolean; readonly ownCa: boolean },
) {
  const code = errno(cause);
  const tls = tlsFailure(cause);
  const isUntrusted = ownCa && (tls?.problem === 'selfSigned' || tls?.problem === 'untrusted');
  const detail = isUntrusted
    ? 'its certificate was not signed by the authority in storeCa'
    : (tls?.why ?? reasons[code] ?? (code === '' ? why : code));
  const isKindUnclear =
    !connected && address.path === undefined && (detail === why || code === 'ECONNRESET');
  const otherScheme = address.tls ? 'redis' : 'rediss';
  return storeFailure(
    'STORE_AWAY',
    `cannot use the store at ${address.shown}: ${detail}`,
    {
      about: 'storeAway',
      problem: isUntrusted ? 'otherAuthority' : tls?.problem,
      otherScheme: isKindUnclear ? otherScheme : undefined,
    },
    cause,
  );
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
  ETIMEDOUT: 'no answer',
  ECONNRESET: 'the connection was reset',
  ENOENT: 'the socket does not exist',
  EACCES: 'no permission to use the socket',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
};
