import { usageError } from '../../base/failure.ts';
import type { User } from '../../contract/records/user.ts';
import type { ResolvePlan, World } from './types.ts';

/** The users of a source by index, without later renames and reveals. */
export interface UserSource {
  readonly handles: readonly string[];
  /** The complete record, with all wallets and with `socials`. */
  record(index: number): User;
  /** Whether the wallets are verified when the sandbox starts. */
  verified(index: number): boolean;
  indexOfId(id: string): number | undefined;
  indexOfWallet(address: string): number | undefined;
  isSample(index: number): boolean;
  resolvePlan(index: number): ResolvePlan;
}

/** The users of a world by index, and the facts about them that the other parts of the world need. */
export interface UserStore {
  readonly api: World['users'];
  readonly count: number;
  record(index: number): User;
  indexOfHandle(handle: string): number | undefined;
  handle(index: number): string;
  /** Whether a user's wallets are verified now. */
  verified(index: number): boolean;
  /**
   * The number of users whose wallets were verified by a live resolve. A change of this number shows that
   * cached results are outdated.
   */
  readonly reveals: number;
}

/** Creates a user store that applies renames and reveals to the records of a source. */
export function createUserStore(source: UserSource, withSocials: boolean): UserStore {
  const handles = [...source.handles];
  const byHandle = new Map<string, number>();
  for (const [index, handle] of handles.entries()) {
    // Several records of a file may have the same handle; use the first of them.
    if (!byHandle.has(handle.toLowerCase())) byHandle.set(handle.toLowerCase(), index);
  }
  const revealed = new Set<number>();
  const verified = (index: number) => source.verified(index) || revealed.has(index);

  function record(index: number): User {
    const user = { ...source.record(index), handle: handles[index] ?? '' };
    if (!withSocials) delete user.socials;
    if (verified(index)) return user;
    return { ...user, solanaAddress: null, evmAddress: null };
  }

  function requireIndex(userId: string): number {
    const index = source.indexOfId(userId);
    if (index === undefined)
      throw usageError(`no user has the id ${userId}`, 'use the id of an existing user');
    return index;
  }

  const recordOrNone = (index: number | undefined) => (index === undefined ? undefined : record(index));
  const indexOfHandle = (handle: string) => byHandle.get(handle.toLowerCase());

  return {
    count: handles.length,
    record,
    indexOfHandle,
    handle: (index) => handles[index] ?? '',
    verified,
    get reveals() {
      return revealed.size;
    },
    api: {
      byHandle: (handle) => recordOrNone(indexOfHandle(handle)),
      byId: (id) => recordOrNone(source.indexOfId(id)),
      byWallet(address) {
        const index = source.indexOfWallet(address);
        return index !== undefined && verified(index) ? record(index) : undefined;
      },
      isSample(userId) {
        const index = source.indexOfId(userId);
        return index !== undefined && source.isSample(index);
      },
      resolvePlan: (userId) => source.resolvePlan(requireIndex(userId)),
      reveal(userId) {
        const index = requireIndex(userId);
        if (!source.verified(index)) revealed.add(index);
        return record(index);
      },
      rename(userId, handle) {
        const index = requireIndex(userId);
        const holder = indexOfHandle(handle);
        if (holder !== undefined && holder !== index)
          throw usageError(`the handle ${handle} is already in use`, 'choose a different handle');
        const before = handles[index] ?? '';
        if (indexOfHandle(before) === index) byHandle.delete(before.toLowerCase());
        byHandle.set(handle.toLowerCase(), index);
        handles[index] = handle;
      },
      handles,
    },
  };
}
