import { randomUUID } from 'node:crypto';
import type { StoreConnection } from '../connection.ts';
import { isStoreFailure, storeFailure, unusable } from '../failures.ts';
import { ackOrdered } from '../scripts/feed.ts';
import { renew, resign } from '../scripts/lease.ts';
import {
  batches,
  bornOf,
  type GroupEvent,
  type GroupOptions,
  type GroupWork,
  hasLost,
} from './group-batches.ts';
import { LEASE_MS } from './leader-term.ts';

const RETRY_MS = 1_000;
const RENEW_MS = 2_500;
/** Longer than a member needs to notice that the store has lost the group, and to join it again. */
const GRACE_MS = 5_000;

export async function* followGroup(
  options: GroupOptions,
  signal: AbortSignal,
): AsyncGenerator<GroupEvent, void, void> {
  let away = false;
  const work: GroupWork = { open: false, acknowledged: undefined, place: options.memory.read() };
  while (!signal.aborted) {
    let store: StoreConnection | undefined;
    // Closes the connection to end a blocking read, but not while a batch still has to be acknowledged.
    const hangUp = () => {
      if (!work.open) store?.close();
    };
    signal.addEventListener('abort', hangUp, { once: true });
    try {
      store = await options.open();
      if (signal.aborted) return;
      const run = options.shared ? sharedMember : orderedMember;
      for await (const event of run(options, store, work, signal)) {
        // Report the recovery only after an event: a full server accepts the connection, but not the lease.
        if (away) yield { kind: 'back' };
        away = false;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!unusable(error)) throw error;
      const isAway = !isStoreFailure(error, 'STORE_LEASE');
      if (!away) yield { kind: isAway ? 'away' : 'interrupted', why: error.message };
      away ||= isAway;
    } finally {
      signal.removeEventListener('abort', hangUp);
      store?.close();
    }
    await options.clock.sleep(RETRY_MS, signal).catch(() => {});
  }
}

/**
 * Runs a member of an ordered group. The member waits for the lease, and begins with the posts that the previous
 * active member did not acknowledge.
 */
async function* orderedMember(
  options: GroupOptions,
  store: StoreConnection,
  work: GroupWork,
  signal: AbortSignal,
): AsyncGenerator<GroupEvent, void, void> {
  const { feed, name, clock, leaseMs = LEASE_MS } = options;
  const lease = feed.group(name);
  const token = randomUUID();
  let waiting = false;
  let hasWaited = false;
  for (;;) {
    const born = await bornOf(store, feed);
    work.place ??= { born, last: null, verified: null };
    // If the store has lost the group, another member may know its position: let that one take the lease first.
    if (!hasWaited && work.place.last === null && hasLost(work.place, born)) {
      hasWaited = true;
      await clock.sleep(GRACE_MS, signal);
    }
    if ((await store.send('SET', [lease, token, 'NX', 'PX', leaseMs])) === 'OK') break;
    if (!waiting) yield { kind: 'standby' };
    waiting = true;
    await clock.sleep(RETRY_MS, signal);
  }
  yield { kind: 'active' };
  const over = new AbortController();
  // `signal` does not end the lease: a member that is stopping holds it until its batch is acknowledged.
  const lost = AbortSignal.any([over.signal, store.lost]);
  void renewing(options, store, token, over, lost);
  const ack = async (rows: readonly string[]) => {
    const answer = await store.run(ackOrdered, [lease, feed.stream], [token, name, ...rows]);
    if (answer !== -1) {
      work.acknowledged = rows.at(-1) ?? work.acknowledged;
      return;
    }
    over.abort(supersededFailure());
    throw supersededFailure();
  };
  try {
    yield* batches({ options, store, consumer: 'ordered', ack, work, lost, signal });
  } finally {
    over.abort(supersededFailure());
    await giveBack(options, store, token, signal);
  }
}

async function giveBack(
  { open, feed, name }: GroupOptions,
  own: StoreConnection,
  token: string,
  signal: AbortSignal,
): Promise<void> {
  // If this member is stopping, it has closed its own connection to end a blocking read; use another one.
  const closed = own.lost.aborted;
  if (closed && !signal.aborted) return;
  try {
    const store = closed ? await open() : own;
    await store.run(resign, [feed.group(name)], [token]);
    if (closed) store.close();
  } catch {
    // Ignore the error: the lease expires by itself.
  }
}

const supersededFailure = () =>
  storeFailure('STORE_LEASE', 'this run is no longer the active member of the group');

async function renewing(
  { feed, name, clock, leaseMs = LEASE_MS }: GroupOptions,
  store: StoreConnection,
  token: string,
  over: AbortController,
  ended: AbortSignal,
): Promise<void> {
  let endsAt = clock.mono() + leaseMs;
  try {
    while (!ended.aborted) {
      await clock.sleep(Math.min(RENEW_MS, leaseMs / 4), ended);
      if (clock.mono() >= endsAt) break;
      const sent = clock.mono();
      if ((await store.run(renew, [feed.group(name)], [token, leaseMs])) !== 1) break;
      endsAt = sent + leaseMs;
    }
  } catch {
    // Ignore the error: the connection broke, or the member is stopping.
  }
  over.abort(supersededFailure());
}

/** Runs a member of a shared group. It reads new entries, and entries that other members did not acknowledge in time. */
async function* sharedMember(
  options: GroupOptions,
  store: StoreConnection,
  work: GroupWork,
  signal: AbortSignal,
): AsyncGenerator<GroupEvent, void, void> {
  yield { kind: 'active' };
  const { feed, name, machine } = options;
  const ack = async (rows: readonly string[]) => {
    if (rows.length > 0) await store.send('XACK', [feed.stream, name, ...rows]);
    work.acknowledged = rows.at(-1) ?? work.acknowledged;
  };
  const consumer = `${machine}-${randomUUID().slice(0, 8)}`;
  yield* batches({ options, store, consumer, ack, work, lost: store.lost, signal });
}
