import { Failure, type Hint } from '../base/failure.ts';
import { errno } from '../base/files.ts';
import { type TlsProblem, tlsFailure } from '../base/tls-failure.ts';
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
    storeFailure(
      'STORE_FULL',
      `the store at ${where} has no memory left (${word})`,
      'raise maxmemory, or run "trdr store clear cache" to remove cached answers',
    ),
  MISCONF: ({ word, where }) =>
    storeFailure(
      'STORE_FULL',
      `the store at ${where} cannot save its data to disk (${word})`,
      'check the disk space and the file permissions on the server',
    ),
  NOAUTH: ({ where }) =>
    storeFailure(
      'STORE_DENIED',
      `the store at ${where} requires a password`,
      'run "trdr store login URL", which prompts for the password, or set TRDR_STORE_PASSWORD',
    ),
  WRONGPASS: ({ where }) =>
    storeFailure(
      'STORE_DENIED',
      `the store at ${where} rejected the user or password`,
      where.includes('@') || where.includes('user=')
        ? 'run "trdr store login" again, or check TRDR_STORE_PASSWORD'
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
      'run "trdr store check", which names the command',
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
    return storeFailure(
      'STORE_UNFIT',
      `the store at ${where} has no password, but trdr sent one`,
      'run "trdr store login" again without a password and unset TRDR_STORE_PASSWORD, or set a password on the server',
    );
  return storeFailure('STORE_UNFIT', `the store at ${where} answered with an error (${word})`, {
    hint: 'if another program uses this database, set a different storePrefix; "trdr store clear all" removes what it has overwritten',
    checkHint: 'check that the server is Redis 7.0 or newer, or Valkey',
  });
}

/** Limits and sums that another program has overwritten would not limit spending any more. */
export const damagedFailure = (key: string): Failure =>
  storeFailure(
    'STORE_UNFIT',
    'a budget or a sum in the store is not a number',
    `remove the key from the store: DEL '${key}'; then set the budgets again with "trdr budget set"`,
  );

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
  const otherScheme = isKindUnclear ? schemeHints[address.tls ? 'redis' : 'rediss'] : '';
  return storeFailure(
    'STORE_AWAY',
    `cannot use the store at ${address.shown}: ${detail}`,
    awayHint(isUntrusted ? OTHER_CA : tls && tlsFixes[tls.problem], otherScheme),
    cause,
  );
}

function awayHint(fix: string | undefined, otherScheme: string): Hint {
  const away = 'run "trdr store check" to see whether the store is running and reachable';
  const inCheck = 'check that the address is right and that the server is running and reachable';
  return {
    hint: `${fix ?? away}${otherScheme}; set TRDR_STORE=off to run without the store`,
    checkHint: `${fix ?? inCheck}${otherScheme}`,
  };
}

const schemeHints = {
  redis: '; if the server does not use TLS, write redis://',
  rediss: '; if the server requires TLS, write rediss://',
};

const CA_FIX =
  'set the certificate of its authority: trdr config set storeCa FILE, or TRDR_STORE_CA';
const OTHER_CA = 'set the right certificate file: trdr config set storeCa FILE, or TRDR_STORE_CA';

const tlsFixes: Partial<Record<TlsProblem, string>> = {
  expired: 'check the clock of this machine; if it is correct, renew the certificate of the server',
  early: 'check the clock of this machine',
  selfSigned: CA_FIX,
  untrusted: CA_FIX,
  otherHost: 'use the host name in the certificate, or issue a certificate for this host',
  notTls: 'use redis:// instead of rediss:// in the URL',
  version: 'enable TLS 1.2 or newer in the configuration of the server',
  clientCertificate: 'set "tls-auth-clients no" in the configuration of the server',
};

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
