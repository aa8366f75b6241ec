import { Failure } from '../../base/failure.ts';
import type { StoreConnection } from '../connection.ts';
import type { FeedKeys } from '../keys.ts';
import { fieldsReply, listReply } from '../replies.ts';
import { type FeedPoint, isBefore, readEntries } from './entry.ts';

/**
 * Creates the group if it does not exist. Returns how many entries were deleted before the group
 * read them.
 */
export async function joinGroup(
  store: StoreConnection,
  { stream }: FeedKeys,
  name: string,
  start: string,
): Promise<{ readonly missing: number; readonly to: FeedPoint } | undefined> {
  const exists = (await store.send('EXISTS', [stream])) === 1;
  const groups = exists
    ? listReply(await store.send('XINFO', ['GROUPS', stream])).map(fieldsReply)
    : [];
  const own = groups.find((group) => group.get('name') === name);
  if (own === undefined) {
    // Ignore BUSYGROUP: another member may have created the group at the same moment.
    await store
      .send('XGROUP', ['CREATE', stream, name, start, 'MKSTREAM'])
      .catch((error: unknown) => {
        const facts = error instanceof Failure ? error.facts : undefined;
        if (facts?.about !== 'reply' || facts.code !== 'BUSYGROUP') throw error;
      });
    return undefined;
  }
  const [first] = readEntries(await store.send('XRANGE', [stream, '-', '+', 'COUNT', 1]));
  if (first === undefined || !isBefore(own.get('last-delivered-id') ?? '0-0', first.entry))
    return undefined;
  const length = Number(await store.send('XLEN', [stream]));
  // Not the lag of the group: before Redis 7.4 it includes deleted entries, and since then it does
  // not.
  const added = Number(
    fieldsReply(await store.send('XINFO', ['STREAM', stream])).get('entries-added'),
  );
  const missing = added - length - Number(own.get('entries-read'));
  return missing > 0 ? { missing, to: first } : undefined;
}
