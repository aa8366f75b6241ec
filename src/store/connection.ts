import { isIP } from 'node:net';
import type { Failure } from '../base/failure.ts';
import { checkExposure, type StoreAddress } from './address.ts';
import { awayFailure, failureOfReply, isStoreFailure, storeFailure } from './failures.ts';
import { fieldsReply, listReply } from './replies.ts';
import type { RedisArgument, Script } from './script.ts';

export interface ConnectOptions {
  readonly password?: string | undefined;
  /** PEM text of the authorities that are trusted instead of the system's. */
  readonly ca?: string | undefined;
  /** Allows an unencrypted connection to another machine. */
  readonly plain?: boolean | undefined;
  /** CLIENT LIST shows it to operators. */
  readonly name?: string | undefined;
  readonly connectMs?: number | undefined;
  readonly commandMs?: number | undefined;
  readonly trace?: ((line: string) => void) | undefined;
}

interface ServerFacts {
  readonly product: 'redis' | 'valkey';
  readonly version: string;
  /**
   * Changes with every restart of the server. Data that was read before may no longer exist then.
   */
  readonly boot: string;
  readonly role: string;
  /** `standalone`, `cluster` or `sentinel`; empty if the server does not report it. */
  readonly mode: string;
  /** Whether the server removes keys when its memory is full, instead of rejecting writes. */
  readonly evicts: boolean;
}

export type StoreConnection = Awaited<ReturnType<typeof connectStore>>;

const CONNECT_MS = 1_000;
/**
 * If an answer takes longer, the connection is closed, so that callers continue without the store.
 */
const COMMAND_MS = 2_000;

/**
 * Never reconnects: the server may have failed over or lost its last second of writes, so callers
 * read everything again.
 */
export async function connectStore(address: StoreAddress, options: ConnectOptions = {}) {
  checkExposure(address, options.plain ?? false);
  const { default: Redis } = await import('iovalkey');
  const { connectMs = CONNECT_MS, commandMs = COMMAND_MS, trace } = options;
  const where = address.shown;
  const client = new Redis({
    ...(address.path === undefined
      ? { host: address.host, port: address.port }
      : { path: address.path }),
    ...(address.tls && {
      tls: {
        // Always verify certificates, whatever NODE_TLS_REJECT_UNAUTHORIZED says.
        rejectUnauthorized: true,
        // Set the server name only for a host name: SNI does not allow IP addresses.
        ...(isIP(address.host) === 0 && { servername: address.host }),
        ...(options.ca !== undefined && { ca: options.ca }),
      },
    }),
    lazyConnect: true,
    connectTimeout: connectMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    reconnectOnError: () => false,
    keepAlive: 30_000,
  });
  const over = new AbortController();
  let cause: unknown;
  let connected = false;
  client.on('error', (error: unknown) => {
    cause = error;
  });
  let isEnding = false;
  const end = (why: string, failure?: Failure) => {
    // Disconnect only once: each call adds a listener to the socket, and Node prints a warning
    // after ten of them.
    if (isEnding) return;
    isEnding = true;
    client.disconnect();
    over.abort(
      failure ?? awayFailure(address, why, cause, { connected, ownCa: options.ca !== undefined }),
    );
  };
  client.on('end', () => end('the connection was closed'));

  /**
   * Sends a command. Throws error replies unchanged, except for those after which the connection is
   * closed.
   */
  async function exchange(
    name: string,
    args: readonly RedisArgument[],
    limitMs: number,
  ): Promise<unknown> {
    if (over.signal.aborted) throw over.signal.reason;
    trace?.(`store > ${name} (${args.length} arguments)`);
    const timer = setTimeout(() => end(`no answer within ${limitMs / 1000} s`), limitMs);
    try {
      return await client.call(name, ...args);
    } catch (error) {
      // After these replies, the store cannot be used now: the server is starting or busy, or has
      // become a replica.
      if (
        isReply(error) &&
        !/^(READONLY|UNBLOCKED|LOADING|MASTERDOWN|BUSY|UNKILLABLE)\b/.test(error.message)
      )
        throw error;
      if (isReply(error)) end('', failureOfReply(error.message, where));
      end('the connection broke');
      throw over.signal.reason;
    } finally {
      clearTimeout(timer);
    }
  }

  /** `blockMs` is how long the server may wait before it answers a blocking command. */
  const send = (name: string, args: readonly RedisArgument[], blockMs = 0): Promise<unknown> =>
    exchange(name, args, commandMs + blockMs).catch((error: unknown) => {
      throw isReply(error) ? failureOfReply(error.message, where) : error;
    });

  const selectFailure = (error: unknown): never => {
    if (!isReply(error) || !error.message.startsWith('ERR')) throw error;
    throw storeFailure(
      'STORE_UNFIT',
      `${where} has no database ${address.db}`,
      'change the number at the end of the store URL to a database that the server has, usually 0',
    );
  };

  let server: ServerFacts;
  const late = setTimeout(() => end(`no answer within ${connectMs / 1000} s`), connectMs);
  try {
    await client.connect();
    // The client library ignores an authentication failure, and would continue as another user or
    // in another database.
    if (options.password !== undefined || address.username !== undefined) {
      const user = address.username === undefined ? [] : [address.username];
      await exchange('AUTH', [...user, options.password ?? ''], connectMs);
    }
    if (address.db !== 0) await exchange('SELECT', [address.db], connectMs).catch(selectFailure);
    if (options.name !== undefined)
      void exchange('CLIENT', ['SETNAME', options.name], connectMs).catch(() => {});
    server = readFacts(await exchange('INFO', [], connectMs));
    const unfit = unfitMode[server.mode];
    if (unfit) throw storeFailure('STORE_UNFIT', `${where} ${unfit.why}`, unfit.next);
    // A replica rejects or loses writes, and its data may be outdated.
    const isReplica = `cannot use the store at ${where}: it is a replica`;
    const next =
      'use the address of the primary; after a failover, wait until the replica is promoted';
    if (server.role !== 'master') end('', storeFailure('STORE_AWAY', isReplica, next));
    connected = true;
    if (over.signal.aborted) throw over.signal.reason;
  } catch (error) {
    const reply = isReply(error) ? error : undefined;
    end('the connection broke');
    if (isStoreFailure(error, 'STORE_UNFIT')) throw error;
    throw reply === undefined ? over.signal.reason : failureOfReply(reply.message, where);
  } finally {
    clearTimeout(late);
  }
  return {
    server,
    /** Aborted when the connection ends. */
    lost: over.signal,
    send,
    async run(
      { sha, text, name }: Script,
      keys: readonly string[],
      args: readonly RedisArgument[],
    ): Promise<unknown> {
      try {
        return await exchange('EVALSHA', [sha, keys.length, ...keys, ...args], commandMs);
      } catch (error) {
        if (!isReply(error)) throw error;
        if (!error.message.startsWith('NOSCRIPT')) throw failureOfReply(error.message, where);
        trace?.(`store: loading script ${name}`);
        return await send('EVAL', [text, keys.length, ...keys, ...args]);
      }
    },
    close: (): void => end('this process closed the connection'),
  };
}

/**
 * Replies begin with a code in capital letters. Minification renames classes, so the class does not
 * tell.
 */
const isReply = (error: unknown): error is Error =>
  error instanceof Error && !('code' in error) && /^[A-Z]{3,}\b/.test(error.message);

const unfitMode: Readonly<Record<string, { readonly why: string; readonly next: string }>> = {
  sentinel: {
    why: 'is a Sentinel, which stores no data',
    next: 'use the address of the primary, or a host name or proxy that always leads to it',
  },
  // Reject cluster mode: a cluster may store the Redis keys that a script uses in different slots.
  cluster: {
    why: 'is in cluster mode',
    next: 'use a server that is not a cluster node; it may have replicas',
  },
};

/**
 * Returns the fields of a reply of INFO by their names; an empty text for those that it does not
 * have.
 */
export const infoFields =
  (info: unknown) =>
  (name: string): string =>
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(String(info))?.[1] ?? '';

function readFacts(info: unknown): ServerFacts {
  const field = infoFields(info);
  const valkey = field('valkey_version');
  return {
    product: valkey === '' ? 'redis' : 'valkey',
    version: valkey === '' ? field('redis_version') : valkey,
    boot: field('run_id'),
    role: field('role'),
    mode: field('redis_mode') || field('server_mode'),
    evicts:
      Number(field('maxmemory')) > 0 && !['', 'noeviction'].includes(field('maxmemory_policy')),
  };
}

export const hashReply = async (
  store: StoreConnection,
  key: string,
): Promise<Map<string, string>> => fieldsReply(await store.send('HGETALL', [key]));

export async function serverNow(store: StoreConnection): Promise<number> {
  const [seconds, micros] = listReply(await store.send('TIME', [])).map(Number);
  return (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
}
