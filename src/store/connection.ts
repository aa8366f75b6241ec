import { isIP } from 'node:net';
import type { Redis, RedisOptions } from 'iovalkey';
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

export interface StoreConnection {
  readonly server: ServerFacts;
  /** Aborted when the connection ends. */
  readonly lost: AbortSignal;
  /**
   * Sends a command. `blockMs` is how long the server may wait before it answers a blocking one.
   */
  send(name: string, args: readonly RedisArgument[], blockMs?: number): Promise<unknown>;
  run(script: Script, keys: readonly string[], args: readonly RedisArgument[]): Promise<unknown>;
  close(): void;
}

const CONNECT_MS = 1_000;
/**
 * If an answer takes longer, the connection is closed, so that callers continue without the store.
 */
const COMMAND_MS = 2_000;

/**
 * Opens a connection. It never reconnects: the server may have failed over or lost its last second
 * of writes, so callers read everything again.
 */
export async function connectStore(
  address: StoreAddress,
  options: ConnectOptions = {},
): Promise<StoreConnection> {
  checkExposure(address, options.plain ?? false);
  const { default: Redis } = await import('iovalkey');
  const { commandMs = COMMAND_MS, trace } = options;
  const where = address.shown;
  const wire = new Wire(new Redis(clientOptions(address, options)), address, options);
  const server = await logIn(wire, address, options);
  const send = (name: string, args: readonly RedisArgument[], blockMs = 0): Promise<unknown> =>
    wire.exchange(name, args, commandMs + blockMs).catch((error: unknown) => {
      throw isReply(error) ? failureOfReply(error.message, where) : error;
    });
  return {
    server,
    lost: wire.lost,
    send,
    async run({ sha, text, name }, keys, args) {
      try {
        return await wire.exchange('EVALSHA', [sha, keys.length, ...keys, ...args], commandMs);
      } catch (error) {
        if (!isReply(error)) throw error;
        if (codeOf(error) !== 'NOSCRIPT') throw failureOfReply(error.message, where);
        trace?.(`store: loading script ${name}`);
        return await send('EVAL', [text, keys.length, ...keys, ...args]);
      }
    },
    close: () => wire.end('this process closed the connection'),
  };
}

/** No offline queue, no automatic resend, no reconnect: each could send a command twice. */
const clientOptions = (
  address: StoreAddress,
  { connectMs = CONNECT_MS, ca }: ConnectOptions,
): RedisOptions => ({
  ...(address.path === undefined
    ? { host: address.host, port: address.port }
    : { path: address.path }),
  ...(address.tls && {
    tls: {
      // Always verify certificates, whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
      // Set the server name only for a host name: SNI does not allow IP addresses.
      ...(isIP(address.host) === 0 && { servername: address.host }),
      ...(ca !== undefined && { ca }),
    },
  }),
  lazyConnect: true,
  connectTimeout: connectMs,
  // A server that hangs does not answer the end of a connection either.
  disconnectTimeout: 100,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  enableReadyCheck: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
  reconnectOnError: () => false,
  keepAlive: 30_000,
});

/**
 * The replies after which the store cannot be used now: it is starting or busy, or has become a
 * replica.
 */
const ENDING: ReadonlySet<string> = new Set([
  'READONLY',
  'UNBLOCKED',
  'LOADING',
  'MASTERDOWN',
  'BUSY',
  'UNKILLABLE',
]);

/** A client of the library, and why its connection has ended. */
class Wire {
  readonly #client: Redis;
  readonly #address: StoreAddress;
  readonly #options: ConnectOptions;
  readonly #over = new AbortController();
  /** The last error of the socket. */
  #cause: unknown;
  #isReady = false;
  #isEnding = false;

  constructor(client: Redis, address: StoreAddress, options: ConnectOptions) {
    this.#client = client;
    this.#address = address;
    this.#options = options;
    client.on('error', (error: unknown) => {
      this.#cause = error;
    });
    client.on('end', () => this.end('the connection was closed'));
  }

  get lost(): AbortSignal {
    return this.#over.signal;
  }

  connect(): Promise<void> {
    return this.#client.connect();
  }

  /** From now on, the address certainly belongs to a store. */
  ready(): void {
    this.#isReady = true;
  }

  end(why: string, failure?: Failure): void {
    // Disconnect only once: each call adds a listener to the socket, and Node prints a warning
    // after ten of them.
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#client.disconnect();
    const about = { connected: this.#isReady, ownCa: this.#options.ca !== undefined };
    this.#over.abort(failure ?? awayFailure(this.#address, why, this.#cause, about));
  }

  /**
   * Sends a command. Throws error replies unchanged, except for those after which the connection is
   * closed.
   */
  async exchange(name: string, args: readonly RedisArgument[], limitMs: number): Promise<unknown> {
    if (this.lost.aborted) throw this.lost.reason;
    this.#options.trace?.(`store > ${name} (${args.length} arguments)`);
    const timer = setTimeout(() => this.end(`no answer within ${limitMs / 1000} s`), limitMs);
    try {
      return await this.#client.call(name, ...args);
    } catch (error) {
      if (isReply(error)) {
        if (!ENDING.has(codeOf(error))) throw error;
        this.end('', failureOfReply(error.message, this.#address.shown));
      }
      this.end('the connection broke');
      throw this.lost.reason;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Connects and logs in, and returns what the server is. */
async function logIn(
  wire: Wire,
  address: StoreAddress,
  options: ConnectOptions,
): Promise<ServerFacts> {
  const { connectMs = CONNECT_MS } = options;
  const late = setTimeout(() => wire.end(`no answer within ${connectMs / 1000} s`), connectMs);
  try {
    await wire.connect();
    await authenticate(wire, address, options, connectMs);
    const server = readFacts(await wire.exchange('INFO', [], connectMs));
    checkRole(wire, server, address.shown);
    wire.ready();
    if (wire.lost.aborted) throw wire.lost.reason;
    return server;
  } catch (error) {
    wire.end('the connection broke');
    if (isStoreFailure(error, 'STORE_UNFIT')) throw error;
    throw isReply(error) ? failureOfReply(error.message, address.shown) : wire.lost.reason;
  } finally {
    clearTimeout(late);
  }
}

/**
 * The client library ignores an authentication failure, and would continue as another user or in
 * another database.
 */
async function authenticate(
  wire: Wire,
  { username, db, shown }: StoreAddress,
  { password, name }: ConnectOptions,
  connectMs: number,
): Promise<void> {
  if (password !== undefined || username !== undefined) {
    const user = username === undefined ? [] : [username];
    await wire.exchange('AUTH', [...user, password ?? ''], connectMs);
  }
  if (db !== 0)
    await wire.exchange('SELECT', [db], connectMs).catch((error: unknown) => {
      if (!isReply(error) || codeOf(error) !== 'ERR') throw error;
      throw storeFailure(
        'STORE_UNFIT',
        `${shown} has no database ${db}`,
        'change the number at the end of the store URL to a database that the server has, usually 0',
      );
    });
  if (name !== undefined)
    void wire.exchange('CLIENT', ['SETNAME', name], connectMs).catch(() => {});
}

function checkRole(wire: Wire, { mode, role }: ServerFacts, where: string): void {
  const unfit = unfitMode[mode];
  if (unfit) throw storeFailure('STORE_UNFIT', `${where} ${unfit.why}`, unfit.next);
  if (role === 'master') return;
  // A replica rejects or loses writes, and its data may be outdated.
  const why = `cannot use the store at ${where}: it is a replica`;
  const next =
    'use the address of the primary; after a failover, wait until the replica is promoted';
  wire.end('', storeFailure('STORE_AWAY', why, next));
}

/**
 * Replies begin with a code in capital letters. Minification renames classes, so the class does not
 * tell.
 */
const isReply = (error: unknown): error is Error =>
  error instanceof Error && !('code' in error) && codeOf(error) !== '';

/** The code with which an error reply begins; empty if it has none. */
const codeOf = ({ message }: Error): string => /^[A-Z]{3,}\b/.exec(message)?.[0] ?? '';

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
