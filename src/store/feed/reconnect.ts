import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../connection.ts';
import { unusable } from '../failures.ts';

/** How a reader of a feed reaches the store. */
export interface Reaching {
  /** Opens a connection for this reader alone, because its reads block the connection. */
  readonly open: () => Promise<StoreConnection>;
  readonly clock: Clock;
}

export type Outage = { readonly kind: 'away'; readonly why: string } | { readonly kind: 'back' };

const RETRY_MS = 1_000;

/** Reads from the store until the signal is aborted; after an outage, from a new connection. */
export async function* reading<E>(
  { open, clock }: Reaching,
  signal: AbortSignal,
  read: (store: StoreConnection) => AsyncIterable<E>,
): AsyncGenerator<E | Outage, void, void> {
  let away = false;
  while (!signal.aborted) {
    let store: StoreConnection | undefined;
    // Closes the connection to end a blocking read.
    const hangUp = () => store?.close();
    signal.addEventListener('abort', hangUp, { once: true });
    try {
      store = await open();
      if (signal.aborted) return;
      for await (const event of read(store)) {
        // Report the recovery only after an event: a full server accepts the connection, but no
        // writes.
        if (away) yield { kind: 'back' };
        away = false;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!unusable(error)) throw error;
      if (!away) yield { kind: 'away', why: error.message };
      away = true;
    } finally {
      signal.removeEventListener('abort', hangUp);
      store?.close();
    }
    await clock.sleep(RETRY_MS, signal).catch(() => {});
  }
}
