import { Failure } from '../base/failure.ts';

type StoreCode =
  /** Not reachable or too slow, or the connection broke. The server may have executed the command. */
  | 'STORE_AWAY'
  /** This process lost its lease, or its group was removed. It must read the state of the store again. */
  | 'STORE_LEASE'
  /** Its memory is full, or it cannot save its data to disk. Nothing was written. */
  | 'STORE_FULL'
  | 'STORE_DENIED'
  | 'STORE_NEWER'
  | 'STORE_UNFIT';

export const storeFailure = (code: StoreCode, message: string, hint?: string, cause?: unknown): Failure =>
  new Failure('network', message, { code, hint, cause, retryable: code === 'STORE_AWAY' });

export const isStoreFailure = (error: unknown, ...codes: readonly StoreCode[]): error is Failure =>
  error instanceof Failure && codes.some((code) => code === error.code);

/** The hint for an error reply whose cause is not known. */
export const DATA_HINT =
  'if another program uses this database, set a different storePrefix; "trdr store clear all" removes what it has overwritten';

/** Shows only the first word of the reply, and the command that is not permitted: the rest may quote arguments. */
export function failureOfReply(message: string, where: string): Failure {
  // Redis 7.0 does not name the command for which a script has no permission.
  const isInScript = /^ERR (The user executing the script|ACL failure in script)/.test(message);
  const word = isInScript ? 'NOPERM' : (/^[A-Z]+/.exec(message)?.[0] ?? 'ERR');
  switch (word) {
    case 'OOM':
      return storeFailure(
        'STORE_FULL',
        `the store at ${where} has no memory left (${word})`,
        'raise maxmemory, or run "trdr store clear cache" to remove cached answers',
      );
    case 'MISCONF':
      return storeFailure(
        'STORE_FULL',
        `the store at ${where} cannot save its data to disk (${word})`,
        'check the disk space and the file permissions on the server',
      );
    case 'NOAUTH':
      return storeFailure(
        'STORE_DENIED',
        `the store at ${where} requires a password`,
        'run "trdr store login URL", which prompts for the password, or set TRDR_STORE_PASSWORD',
      );
    case 'WRONGPASS':
      return storeFailure(
        'STORE_DENIED',
        `the store at ${where} rejected the user or password`,
        where.includes('@') || where.includes('user=')
          ? 'run "trdr store login" again, or check TRDR_STORE_PASSWORD'
          : 'add the user to the URL, as in redis://USER@host:6379/0, or check the password of the default user',
      );
    case 'NOGROUP':
      return storeFailure(
        'STORE_LEASE',
        'the group was removed from the store',
        'run the command again, which creates the group',
      );
    case 'NOPERM':
      if (message.includes('run this command'))
        return storeFailure(
          'STORE_DENIED',
          'the store user has no permission for a command in a script of trdr',
          'run "trdr store check", which names the command',
        );
      return storeFailure(
        'STORE_DENIED',
        `the store user has no permission for ${rightOf(message) ?? 'the keys of trdr in the store'}`,
        rightOf(message) === undefined
          ? 'allow access to these keys: ACL SETUSER NAME ~trdr:*, or ~PREFIX:* if storePrefix is set'
          : `add the permission: ACL SETUSER NAME +${rightOf(message)}; docs/store.md has a line that adds all permissions`,
      );
    case 'DAMAGED':
      return damagedFailure(/^DAMAGED (\S+)/.exec(message)?.[1] ?? '');
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
        'try again shortly; the server may be starting, failing over, or running a long script',
      );
    default:
      if (message.startsWith('ERR AUTH')) {
        return storeFailure(
          'STORE_UNFIT',
          `the store at ${where} has no password, but trdr sent one`,
          'run "trdr store login" again without a password and unset TRDR_STORE_PASSWORD, or set a password on the server',
        );
      }
      return storeFailure('STORE_UNFIT', `the store at ${where} answered with an error (${word})`, DATA_HINT);
  }
}

/** Limits and sums that another program has overwritten would not limit spending any more. */
export const damagedFailure = (key: string): Failure =>
  storeFailure(
    'STORE_UNFIT',
    'a budget or a sum in the store is not a number',
    `remove the key from the store: DEL '${key}'; then set the budgets again with "trdr budget set"`,
  );

/** Undefined if the user may run the command, but not access the keys. The reply contains no values. */
const rightOf = (message: string) => /'([a-z|]+)' command/i.exec(message)?.[1];

/** Callers continue without the store, or wait. */
export const unusable = (error: unknown): error is Failure =>
  isStoreFailure(error, 'STORE_AWAY', 'STORE_FULL', 'STORE_LEASE');

export const interruptionText = ({ code, message }: Failure): string =>
  code === 'STORE_LEASE' ? message : `${message}; waiting for the store`;

export function ignoreUnusable(error: unknown): void {
  if (!unusable(error)) throw error;
}
