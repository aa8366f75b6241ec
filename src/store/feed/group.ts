import { randomUUID } from 'node:crypto';
import type { StoreConnection } from '../connection.ts';
import { storeFailure } from '../failures.ts';
import { feedScripts } from '../scripts/feed.ts';
import {
  bornOf,
  type GroupOptions,
  type GroupReadEvent,
  GroupReader,
  type GroupWork,
  hasLost,
} from './group-batches.ts';
import { keepLease, LEASE_MS, renew, resign } from './lease.ts';
import { type Outage, reading } from './reconnect.ts';

const LOOK_MS = 1_000;
/** Longer than a member needs to notice that the store has lost the group, and to join it again. */
const GRACE_MS = 5_000;

/** `standby`: another member of an ordered group is active. `active`: this one reads. */
type MemberEvent = GroupReadEvent | { readonly kind: 'standby' | 'active' };

export type GroupEvent = MemberEvent | Outage;

/** Reads a feed as a member of a group, over all its connections. */
export function followGroup(
  options: GroupOptions,
  signal: AbortSignal,
): AsyncGenerator<GroupEvent, void, void> {
  const work: GroupWork = {
    isDelivering: false,
    acknowledged: undefined,
    place: options.memory.read(),
  };
  const run = options.shared ? sharedMember : orderedMember;
  return reading(
    options,
    signal,
    (store) => run(options, store, work, signal),
    () => work.isDelivering,
  );
}

const lostText = 'this run is no longer the active member of the group';

/**
 * Waits for the lease, and begins with the posts that the previous active member did not
 * acknowledge.
 */
async function* orderedMember(
  options: GroupOptions,
  store: StoreConnection,
  work: GroupWork,
  signal: AbortSignal,
): AsyncGenerator<MemberEvent, void, void> {
  const { feed, name, clock, leaseMs = LEASE_MS } = options;
  const key = feed.group(name);
  const token = randomUUID();
  let isStandby = false;
  let hasWaited = false;
  let askedAt = clock.mono();
  for (; ; askedAt = clock.mono()) {
    const born = await bornOf(store, feed);
    work.place ??= { born, last: null, verified: null };
    // If the store has lost the group, another member may know its position: let that one take the
    // lease first.
    if (!hasWaited && work.place.last === null && hasLost(work.place, born)) {
      hasWaited = true;
      await clock.sleep(GRACE_MS, signal);
    }
    if ((await store.send('SET', [key, token, 'NX', 'PX', leaseMs])) === 'OK') break;
    if (!isStandby) yield { kind: 'standby' };
    isStandby = true;
    await clock.sleep(LOOK_MS, signal);
  }
  yield { kind: 'active' };
  // `signal` does not end the lease: a member that is stopping holds it until its batch is
  // acknowledged.
  const lease = keepLease(store, clock, { askedAt, leaseMs, lostText }, () =>
    store.run(...renew.with({ lease: key }, { token, leaseMs })),
  );
  const ack = async (entries: readonly string[]) => {
    const places = { lease: key, stream: feed.stream };
    const acked = feedScripts.ackOrdered.with(places, { token, group: name }, entries);
    if ((await store.run(...acked)) !== -1) return;
    lease.end();
    throw storeFailure('STORE_LEASE', lostText);
  };
  try {
    const member = { consumer: 'ordered', ack, work, lost: lease.over };
    yield* new GroupReader(options, store, member).events(signal);
  } finally {
    lease.end();
    await giveBack(options, store, token, signal);
  }
}

async function giveBack(
  { open, feed, name }: GroupOptions,
  own: StoreConnection,
  token: string,
  signal: AbortSignal,
): Promise<void> {
  // If this member is stopping, it has closed its own connection to end a blocking read; use
  // another one.
  const closed = own.lost.aborted;
  if (closed && !signal.aborted) return;
  try {
    const store = closed ? await open() : own;
    await store.run(...resign.with({ lease: feed.group(name) }, { token }));
    if (closed) store.close();
  } catch {
    // Ignore the error: the lease expires by itself.
  }
}

async function* sharedMember(
  options: GroupOptions,
  store: StoreConnection,
  work: GroupWork,
  signal: AbortSignal,
): AsyncGenerator<MemberEvent, void, void> {
  yield { kind: 'active' };
  const { feed, name, machine } = options;
  const ack = async (entries: readonly string[]) => {
    if (entries.length > 0) await store.send('XACK', [feed.stream, name, ...entries]);
  };
  const consumer = `${machine}-${randomUUID().slice(0, 8)}`;
  const member = { consumer, ack, work, lost: store.lost };
  yield* new GroupReader(options, store, member).events(signal);
}
