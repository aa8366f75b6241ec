import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import type { StoreAddress } from './address.ts';
import { type ConnectOptions, connectStore, type StoreConnection } from './connection.ts';
import { ignoreUnusable, isStoreFailure, storeFailure } from './failures.ts';
import type { Keys } from './keys.ts';
import type { StoreMemory } from './memory.ts';
import type { RedisArgument, Script } from './script.ts';

/** A machine that uses a store. */
export interface StoreMember {
  readonly link: StoreLink;
  readonly machine: string;
  readonly memory: StoreMemory;
}

const PAUSE_MS = 5_000;

/** Work on a new connection, done before callers of `use` get the connection. */
type ConnectHook = (store: StoreConnection) => Promise<void>;

/** Until when the store is not tried again, and the failure that callers get until then. */
interface Pause {
  readonly until: number;
  readonly why: unknown;
}

/**
 * The connection of a run, opened on first use. After a failure, it is not opened again for some
 * seconds.
 */
export class StoreLink {
  readonly #address: StoreAddress;
  readonly #options: ConnectOptions;
  readonly #clock: Pick<Clock, 'mono'>;
  readonly #random: () => number;
  readonly #hooks: ConnectHook[] = [];
  #keys: Keys;
  #binding = new AbortController();
  #current: Promise<StoreConnection> | undefined;
  #wasConnected = false;
  #isClosed = false;
  #pause: Pause | undefined;

  constructor(
    address: StoreAddress,
    options: ConnectOptions,
    keys: Keys,
    clock: Pick<Clock, 'mono'>,
    random: () => number,
  ) {
    this.#address = address;
    this.#options = options;
    this.#keys = keys;
    this.#clock = clock;
    this.#random = random;
  }

  get keys(): Keys {
    return this.#keys;
  }

  /** Aborted when another API key replaces the one of these keys. */
  get binding(): AbortSignal {
    return this.#binding.signal;
  }

  /**
   * Continues with the keys of another API key. `handOver` gives it what the present one has; if
   * the store cannot be used now, on the next connection, before the callers of `use` get it.
   */
  async rebind(keys: Keys, handOver: ConnectHook): Promise<void> {
    try {
      const store = await this.#connection();
      await checkSchema(store, keys, this.#address);
      await handOver(store);
    } catch (error) {
      ignoreUnusable(error);
      const later: ConnectHook = async (store) => {
        await handOver(store);
        this.#hooks.splice(this.#hooks.indexOf(later), 1);
      };
      this.#hooks.unshift(later);
    }
    this.#keys = keys;
    const binding = this.#binding;
    this.#binding = new AbortController();
    binding.abort(storeFailure('STORE_LEASE', 'another API key has replaced that of this feed'));
  }

  /** Opens an additional connection, for the term of a leader or for blocking reads. */
  open(): Promise<StoreConnection> {
    return this.#open([]);
  }

  /**
   * If it failed a moment ago, throws the same failure at once, so that it does not delay a run
   * at every call.
   */
  async use<T>(work: (store: StoreConnection) => Promise<T>): Promise<T> {
    return work(await this.#connection());
  }

  async run(
    script: Script,
    names: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<unknown> {
    const store = await this.#connection();
    return store.run(script, names, args);
  }

  /** Runs `work` on each new connection before callers of `use` get the connection. */
  onConnect(work: ConnectHook): void {
    this.#hooks.push(work);
  }

  close(): void {
    this.#isClosed = true;
    void this.#current?.then(
      (store) => store.close(),
      () => {},
    );
  }

  async #connection(): Promise<StoreConnection> {
    if (this.#isClosed) throw storeFailure('STORE_AWAY', 'the store is closed');
    if (this.#current === undefined) {
      const pause = this.#pause;
      if (pause && this.#clock.mono() < pause.until) throw pause.why;
      this.#current = this.#openShared();
    }
    return this.#current;
  }

  async #openShared(): Promise<StoreConnection> {
    try {
      const store = await this.#open(this.#hooks);
      store.lost.addEventListener('abort', () => this.#giveUp(store.lost.reason));
      return store;
    } catch (error) {
      this.#giveUp(error);
      throw error;
    }
  }

  #giveUp(why: unknown): void {
    this.#current = undefined;
    // A random pause, so that the machines of a team do not reconnect at the same time.
    this.#pause = { until: this.#clock.mono() + PAUSE_MS * (1 + this.#random() / 2), why };
  }

  async #open(hooks: readonly ConnectHook[]): Promise<StoreConnection> {
    const isLater = this.#wasConnected;
    let store: StoreConnection | undefined;
    try {
      store = await connectStore(this.#address, this.#options);
      await checkSchema(store, this.keys, this.#address);
      this.#wasConnected = true;
      for (const hook of [...hooks]) await hook(store);
      return store;
    } catch (error) {
      store?.close();
      // Only the first connection ends the run with such a failure. Later, relays and followers
      // wait until it is fixed.
      if (!isLater || !isStoreFailure(error, 'STORE_DENIED', 'STORE_UNFIT')) throw error;
      throw new Failure('network', error.message, {
        code: 'STORE_AWAY',
        hint: error.hint,
        cause: error,
        retryable: true,
      });
    }
  }
}

/** Checks that no newer version of trdr has written the keys in the store. */
async function checkSchema(
  store: StoreConnection,
  { schema, version }: Keys,
  { shown, db }: StoreAddress,
) {
  const stored = await store.send('GET', [schema]).catch((error: unknown) => {
    if (!isStoreFailure(error, 'STORE_UNFIT')) throw error;
    return 'of another type';
  });
  if (stored === null) {
    await store.send('SET', [schema, version, 'NX']).catch((error: unknown) => {
      // Continue with a full server: reads and the recording of costs still work.
      if (!isStoreFailure(error, 'STORE_FULL')) throw error;
    });
  } else if (typeof stored !== 'string' || !/^\d{1,9}$/.test(stored)) {
    throw storeFailure(
      'STORE_UNFIT',
      `the store at ${shown} has an invalid schema version`,
      `set it again, because another program has overwritten it: redis-cli${db === 0 ? '' : ` -n ${db}`} SET '${schema}' ${version}`,
    );
  } else if (Number(stored) > version) {
    throw storeFailure(
      'STORE_NEWER',
      `the store at ${shown} was written by a newer version of trdr (schema ${stored})`,
      'upgrade trdr on this machine, or use a different prefix: trdr config set storePrefix NAME',
    );
  }
}
