import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import type { StoreAddress } from './address.ts';
import { type ConnectOptions, connectStore, type StoreConnection } from './connection.ts';
import { isStoreFailure, storeFailure } from './failures.ts';
import type { Keys } from './keys.ts';
import type { StoreMemory } from './memory.ts';
import type { RedisArgument, Script } from './script.ts';

/** A machine that uses a store. */
export interface StoreMember {
  readonly link: ReturnType<typeof createLink>;
  readonly machine: string;
  readonly memory: StoreMemory;
}

const PAUSE_MS = 5_000;

/**
 * The connection of a run, opened on first use. After a failure, it is not opened again for some
 * seconds.
 */
export function createLink(
  address: StoreAddress,
  options: ConnectOptions,
  keys: Keys,
  { mono }: Pick<Clock, 'mono'>,
  random: () => number,
) {
  const connectHooks: ((store: StoreConnection) => Promise<void>)[] = [];
  let current: Promise<StoreConnection> | undefined;
  let wasConnected = false;
  let closed = false;
  let pause: { readonly until: number; readonly why: unknown } | undefined;

  async function open(hooks: typeof connectHooks = []): Promise<StoreConnection> {
    const isLater = wasConnected;
    let store: StoreConnection | undefined;
    try {
      store = await connectStore(address, options);
      await checkSchema(store, keys, address);
      wasConnected = true;
      for (const hook of hooks) await hook(store);
      return store;
    } catch (error) {
      store?.close();
      // Only the first connection ends the run with such a failure. Later, relays and followers
      // wait until it is fixed.
      if (!isLater || !isStoreFailure(error, 'STORE_DENIED', 'STORE_UNFIT')) throw error;
      throw new Failure('network', error.message, {
        code: 'STORE_AWAY',
        hint: error.hint,
        checkHint: error.checkHint,
        cause: error,
        retryable: true,
      });
    }
  }

  function giveUp(why: unknown): void {
    current = undefined;
    // A random pause, so that the machines of a team do not reconnect at the same time.
    pause = { until: mono() + PAUSE_MS * (1 + random() / 2), why };
  }

  async function openShared(): Promise<StoreConnection> {
    try {
      const store = await open(connectHooks);
      store.lost.addEventListener('abort', () => giveUp(store.lost.reason));
      return store;
    } catch (error) {
      giveUp(error);
      throw error;
    }
  }

  async function connection(): Promise<StoreConnection> {
    if (closed) throw storeFailure('STORE_AWAY', 'the store is closed');
    if (!current && pause && mono() < pause.until) throw pause.why;
    current ??= openShared();
    return current;
  }

  return {
    keys,
    /** Opens an additional connection, for the term of a leader or for blocking reads. */
    open: () => open(),
    /**
     * If it failed a moment ago, throws the same failure at once, so that it does not delay a run
     * at every call.
     */
    use: async <T>(work: (store: StoreConnection) => Promise<T>): Promise<T> =>
      work(await connection()),
    run: async (
      script: Script,
      names: readonly string[],
      args: readonly RedisArgument[],
    ): Promise<unknown> => (await connection()).run(script, names, args),
    /** Runs `work` on each new connection before callers of `use` get the connection. */
    onConnect: (work: (store: StoreConnection) => Promise<void>) => void connectHooks.push(work),
    close(): void {
      closed = true;
      void current?.then(
        (store) => store.close(),
        () => {},
      );
    },
  };
}

/** Checks that no newer version of trdr has written the keys in the store. */
async function checkSchema(
  store: StoreConnection,
  { schema, version }: Keys,
  { shown, db }: StoreAddress,
) {
  const found = await store.send('GET', [schema]).catch((error: unknown) => {
    if (!isStoreFailure(error, 'STORE_UNFIT')) throw error;
    return 'of another type';
  });
  if (found === null) {
    await store.send('SET', [schema, version, 'NX']).catch((error: unknown) => {
      // Continue with a full server: reads and the recording of costs still work.
      if (!isStoreFailure(error, 'STORE_FULL')) throw error;
    });
  } else if (typeof found !== 'string' || !/^\d{1,9}$/.test(found)) {
    throw storeFailure(
      'STORE_UNFIT',
      `the store at ${shown} has an invalid schema version`,
      `set it again, because another program has overwritten it: redis-cli${db === 0 ? '' : ` -n ${db}`} SET '${schema}' ${version}`,
    );
  } else if (Number(found) > version) {
    throw storeFailure(
      'STORE_NEWER',
      `the store at ${shown} was written by a newer version of trdr (schema ${found})`,
      'upgrade trdr on this machine, or use a different prefix: trdr config set storePrefix NAME',
    );
  }
}
