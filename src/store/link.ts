import type { Clock } from '../base/clock.ts';
import { redisCli, type StoreAddress } from './address.ts';
import { type ConnectOptions, connectStore, type StoreConnection } from './connection.ts';
import { isStoreFailure, storeFailure } from './failures.ts';
import { type Keys, SCHEMA } from './keys.ts';
import { writeSchema } from './scripts/schema.ts';

interface LinkOptions {
  readonly address: StoreAddress;
  readonly connect?: ConnectOptions | undefined;
  readonly keys: Keys;
  readonly clock: Pick<Clock, 'mono'>;
  readonly random: () => number;
}

/**
 * The connection of a run to the store. The connection is opened on first use. After a failure, `use` opens no new
 * connection for some seconds.
 */
export interface StoreLink {
  readonly keys: Keys;
  /**
   * Runs `work` on the connection. If the connection failed a moment ago, throws the same failure at once, so that an
   * unreachable store does not delay a run at every call.
   */
  use<T>(work: (store: StoreConnection) => Promise<T>): Promise<T>;
  /** Opens an additional connection, for the term of a leader or for blocking reads. */
  open(): Promise<StoreConnection>;
  /** Runs `work` on each new connection before callers of `use` get the connection. */
  onConnect(work: (store: StoreConnection) => Promise<void>): void;
  close(): void;
}

const PAUSE_MS = 5_000;

export function createLink({ address, connect, keys, clock, random }: LinkOptions): StoreLink {
  const connectHooks: ((store: StoreConnection) => Promise<void>)[] = [];
  let current: Promise<StoreConnection> | undefined;
  let wasConnected = false;
  let closed = false;
  let pause: { readonly until: number; readonly why: unknown } | undefined;

  /**
   * Before the first connection, a rejected password or an unsuitable server ends the run. Later, each of them
   * counts as an outage, so that relays and followers continue when the store accepts them again.
   */
  const outageOf = (error: unknown, isLater: boolean) =>
    isLater && isStoreFailure(error, 'STORE_DENIED', 'STORE_UNFIT')
      ? storeFailure('STORE_AWAY', error.message, error.hint, error)
      : error;

  async function openChecked(): Promise<StoreConnection> {
    let store: StoreConnection | undefined;
    try {
      store = await connectStore(address, connect);
      await checkSchema(store, keys, address);
      wasConnected = true;
      return store;
    } catch (error) {
      store?.close();
      throw outageOf(error, wasConnected);
    }
  }

  async function openShared(): Promise<StoreConnection> {
    const before = wasConnected;
    const store = await openChecked();
    try {
      for (const hook of connectHooks) await hook(store);
    } catch (error) {
      store.close();
      throw outageOf(error, before);
    }
    store.lost.addEventListener('abort', () => {
      current = undefined;
      giveUp(store.lost.reason);
    });
    return store;
  }

  function giveUp(why: unknown): void {
    // A random pause, so that the machines of a team do not reconnect at the same time.
    pause = { until: clock.mono() + PAUSE_MS * (1 + random() / 2), why };
  }

  async function connection(): Promise<StoreConnection> {
    if (closed) throw storeFailure('STORE_AWAY', 'the store is closed');
    if (current) return current;
    if (pause && clock.mono() < pause.until) throw pause.why;
    const opening = openShared();
    current = opening;
    try {
      return await opening;
    } catch (error) {
      current = undefined;
      giveUp(error);
      throw error;
    }
  }

  return {
    keys,
    open: openChecked,
    use: async (work) => work(await connection()),
    onConnect: (work) => void connectHooks.push(work),
    close() {
      closed = true;
      void current?.then(
        (store) => store.close(),
        () => {},
      );
    },
  };
}

async function readSchema(
  store: StoreConnection,
  { schema }: Keys,
  { shown, db }: StoreAddress,
): Promise<number> {
  const text = await store.send('GET', [schema]).catch((error: unknown) => {
    if (!isStoreFailure(error, 'STORE_UNFIT')) throw error;
    return 'of another type';
  });
  if (text === null) return 0;
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) return Number(text);
  throw storeFailure(
    'STORE_UNFIT',
    `the store at ${shown} has an invalid schema version`,
    `set it again, because another program has overwritten it: ${redisCli(db)} SET '${schema}' ${SCHEMA}`,
  );
}

/**
 * Checks that no newer version of trdr has written the keys in the store. Writes the schema version if the store has
 * none, or an older one.
 */
async function checkSchema(store: StoreConnection, keys: Keys, address: StoreAddress): Promise<void> {
  const found = await readSchema(store, keys, address);
  if (found > SCHEMA) {
    throw storeFailure(
      'STORE_NEWER',
      `the store at ${address.shown} was written by a newer version of trdr (schema ${found})`,
      'upgrade trdr on this machine, or use a different prefix: trdr config set storePrefix NAME',
    );
  }
  if (found === SCHEMA) return;
  try {
    await store.run(writeSchema, [keys.schema], [SCHEMA]);
  } catch (error) {
    // Continue with a full server: reads and the recording of costs still work.
    if (!isStoreFailure(error, 'STORE_FULL')) throw error;
  }
}
