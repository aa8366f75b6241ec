import { isIP } from 'node:net';
import { checkExposure, type StoreAddress } from './address.ts';
import { failureOfReply, isStoreFailure, storeFailure } from './failures.ts';
import type { Script } from './script.ts';

/** Options of a connection. */
export interface ConnectOptions {
  readonly password?: string | undefined;
  /** PEM text of the certificate authorities to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** Allows an unencrypted connection beyond this machine. */
  readonly plain?: boolean | undefined;
  /** Shown by CLIENT LIST, so that an operator sees who is connected. */
  readonly name?: string | undefined;
  readonly connectMs?: number | undefined;
  readonly commandMs?: number | undefined;
  readonly trace?: ((line: string) => void) | undefined;
}

/** What the server says about itself. */
export interface ServerFacts {
  readonly product: 'redis' | 'valkey';
  readonly version: string;
  /** Changes with every start of the server: data read before may have been rolled back. */
  readonly boot: string;
  readonly role: string;
  /** `standalone`, `cluster` or `sentinel`; empty if the server does not report it. */
  readonly mode: string;
  /** Whether a full server drops keys instead of rejecting writes. */
  readonly evicts: boolean;
}

export type RedisArgument = string | number | Buffer;

/**
 * One connection, which never reconnects by itself: after a break the server may have failed over or lost
 * its last second of writes, so everything must be read again over a new connection.
 */
export interface StoreConnection {
  readonly server: ServerFacts;
  /** Aborted when the connection ends. */
  readonly lost: AbortSignal;
  run(script: Script, keys: readonly string[], args: readonly RedisArgument[]): Promise<unknown>;
  /** Sends a command. `blockMs` is how long the server may block before it answers. */
  send(name: string, args: readonly RedisArgument[], blockMs?: number): Promise<unknown>;
  /** Like `send`, but returns bulk strings as bytes. */
  sendBytes(name: string, args: readonly RedisArgument[], blockMs?: number): Promise<unknown>;
  close(): void;
}

const CONNECT_MS = 1_000;
/** A slower answer ends the connection, so that callers fall back instead of queueing. */
const COMMAND_MS = 2_000;

/** Opens a connection, or throws a store failure. */
export async function connectStore(
  address: StoreAddress,
  options: ConnectOptions = {},
): Promise<StoreConnection> {
  checkExposure(address, options.plain ?? false);
  const { default: Redis } = await import('iovalkey');
  const { connectMs = CONNECT_MS, commandMs = COMMAND_MS, trace } = options;
  const where = address.shown;
  const client = new Redis({
    ...(address.path === undefined ? { host: address.host, port: address.port } : { path: address.path }),
    ...(address.tls && {
      tls: {
        // Host names are sent to the server (SNI); IP addresses must not be.
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
  client.on('error', (error: unknown) => {
    cause = error;
  });
  const end = (why: string) => {
    client.disconnect();
    if (!over.signal.aborted) over.abort(awayFailure(where, why, cause));
  };
  client.on('end', () => end('the connection was closed'));

  /** Sends a command; error replies are thrown unchanged. */
  async function exchange(name: string, args: readonly RedisArgument[], limitMs: number, bytes: boolean) {
    if (over.signal.aborted) throw over.signal.reason;
    trace?.(`store > ${name} (${args.length} arguments)`);
    // Ending the connection rejects the pending call.
    const timer = setTimeout(() => end(`no answer within ${limitMs / 1000} s`), limitMs);
    try {
      return await (bytes ? client.callBuffer(name, ...args) : client.call(name, ...args));
    } catch (error) {
      // The server is a replica or is starting: data read over this connection is no longer valid.
      if (isReply(error) && !/^(READONLY|UNBLOCKED|LOADING|MASTERDOWN|BUSY|UNKILLABLE)\b/.test(error.message))
        throw error;
      if (isReply(error)) {
        cause = undefined;
        end(`it is not ready (${error.message.split(' ')[0]})`);
      }
      end('the connection broke');
      throw over.signal.reason;
    } finally {
      clearTimeout(timer);
    }
  }

  const send = (name: string, args: readonly RedisArgument[], blockMs = 0, bytes = false): Promise<unknown> =>
    exchange(name, args, commandMs + blockMs, bytes).catch((error: unknown) => {
      throw isReply(error) ? failureOfReply(error.message, where) : error;
    });

  let server: ServerFacts;
  const late = setTimeout(() => end(`no answer within ${connectMs / 1000} s`), connectMs);
  try {
    await client.connect();
    // Sent here instead of by the client library, which would ignore a failure and continue as another user
    // or in another database.
    if (options.password !== undefined || address.username !== undefined) {
      const user = address.username === undefined ? [] : [address.username];
      await exchange('AUTH', [...user, options.password ?? ''], connectMs, false);
    }
    if (address.db !== 0) await exchange('SELECT', [address.db], connectMs, false);
    if (options.name !== undefined)
      void exchange('CLIENT', ['SETNAME', options.name], connectMs, false).catch(() => {});
    server = readFacts(String(await exchange('INFO', [], connectMs, false)));
    const unfit = unfitMode[server.mode];
    if (unfit) throw storeFailure('STORE_UNFIT', `${where} ${unfit.why}`, unfit.next);
    if (server.role !== 'master') end(`it is a ${server.role}, not a master`);
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
    lost: over.signal,
    send: (name, args, blockMs) => send(name, args, blockMs),
    sendBytes: (name, args, blockMs) => send(name, args, blockMs, true),
    async run({ sha, text, name }, keys, args) {
      try {
        return await exchange('EVALSHA', [sha, keys.length, ...keys, ...args], commandMs, false);
      } catch (error) {
        if (!isReply(error)) throw error;
        if (!error.message.startsWith('NOSCRIPT')) throw failureOfReply(error.message, where);
        trace?.(`store: loading script ${name}`);
        return await send('EVAL', [text, keys.length, ...keys, ...args]);
      }
    },
    close: () => end('it was closed here'),
  };
}

/**
 * Error replies begin with a code in capitals. Their class is unusable, because minification changes its
 * name.
 */
const isReply = (error: unknown): error is Error =>
  error instanceof Error && !('code' in error) && /^[A-Z]{3,}\b/.test(error.message);

/** Modes of a server that cannot be a store. */
const unfitMode: Readonly<Record<string, { readonly why: string; readonly next: string }>> = {
  sentinel: {
    why: 'is a Sentinel, which stores nothing',
    next: 'give the address of the master, or a host name or proxy that always leads to it',
  },
  // Some scripts use keys of a base URL and keys of an API key together, which may be in different slots.
  cluster: { why: 'is in cluster mode', next: 'use a server outside of cluster mode; replicas are fine' },
};

function awayFailure(where: string, why: string, cause: unknown) {
  const detail = reasonOf(cause) ?? why;
  return storeFailure(
    'STORE_AWAY',
    `cannot use the store at ${where}: ${detail}`,
    'check that it is running and reachable: trdr store check; TRDR_STORE=off runs without it',
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
  EACCES: 'no permission for the socket',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; set storeCa',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted; set storeCa',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted; set storeCa',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not trusted; set storeCa',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
};

function reasonOf(cause: unknown): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return reasons[code] ?? (code === '' ? undefined : code);
}

function readFacts(info: string): ServerFacts {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const valkey = field('valkey_version');
  return {
    product: valkey === '' ? 'redis' : 'valkey',
    version: valkey === '' ? field('redis_version') : valkey,
    boot: field('run_id'),
    role: field('role'),
    mode: field('redis_mode') || field('server_mode'),
    evicts: Number(field('maxmemory')) > 0 && !['', 'noeviction'].includes(field('maxmemory_policy')),
  };
}
