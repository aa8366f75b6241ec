import { usage } from '../../../contract/failure.ts';
import type { Pnl } from '../../../contract/records/pnl.ts';
import type { User } from '../../../contract/records/user.ts';
import { normalAddress } from '../address.ts';
import type { World } from '../types.ts';

/** The users of a world that was read from files, and their numbers. */
export interface LoadedUsers {
  readonly api: World['users'];
  readonly pnl: World['pnl'];
  readonly records: readonly User[];
}

/** Accounts whose wallets a free key may reveal: the first ones of the file. */
const SAMPLES = 10;

const nothing = { '24h': null, '7d': null, '30d': null, all: null };

/** Looks records up as they were read; numbers belong to the user whose handle they carry. */
export function loadedUsers(records: User[], numbers: readonly Pnl[], withSocials: boolean): LoadedUsers {
  const byHandle = new Map<string, number>();
  const byId = new Map<string, number>();
  const byWallet = new Map<string, number>();
  const handles: string[] = [];
  // Of several records with the same key the first one answers.
  const first = (map: Map<string, number>, key: string, index: number) => {
    if (!map.has(key)) map.set(key, index);
  };
  records.forEach((user, index) => {
    handles.push(user.handle);
    first(byHandle, user.handle.toLowerCase(), index);
    first(byId, user.id.toLowerCase(), index);
    for (const address of [user.solanaAddress, user.evmAddress]) {
      if (address !== null) first(byWallet, normalAddress(address), index);
    }
  });
  const pnlOfUser = new Map<number, Pnl>();
  const pnlAlone = new Map<string, Pnl>();
  for (const pnl of numbers) {
    const index = byHandle.get(pnl.handle.toLowerCase());
    if (index === undefined) pnlAlone.set(pnl.handle.toLowerCase(), pnl);
    else pnlOfUser.set(index, pnl);
  }

  function shown(index: number | undefined): User | undefined {
    const user = index === undefined ? undefined : records[index];
    if (!user || withSocials) return user;
    const { socials: _, ...plain } = user;
    return plain;
  }
  function known(userId: string): number {
    const index = byId.get(userId.toLowerCase());
    if (index === undefined) throw usage(`No user has the id ${userId}.`);
    return index;
  }

  return {
    records,
    api: {
      byHandle: (handle) => shown(byHandle.get(handle.toLowerCase())),
      byId: (id) => shown(byId.get(id.toLowerCase())),
      byWallet: (address) => shown(byWallet.get(normalAddress(address))),
      isSample: (userId) => (byId.get(userId.toLowerCase()) ?? SAMPLES) < SAMPLES,
      // Nothing is known of a wallet that the file does not name.
      resolvePlan: () => ({ outcome: 'pending', reason: 'no_preview' }),
      reveal(userId) {
        const user = shown(known(userId));
        if (!user) throw usage(`No user has the id ${userId}.`);
        return user;
      },
      rename(userId, handle) {
        const index = known(userId);
        const holder = byHandle.get(handle.toLowerCase());
        if (holder !== undefined && holder !== index) throw usage(`The handle ${handle} is taken.`);
        const user = records[index];
        if (!user) return;
        byHandle.delete(user.handle.toLowerCase());
        byHandle.set(handle.toLowerCase(), index);
        records[index] = { ...user, handle };
        handles[index] = handle;
      },
      handles,
    },
    pnl(handle) {
      const index = byHandle.get(handle.toLowerCase());
      const user = index === undefined ? undefined : records[index];
      if (index === undefined || !user) return pnlAlone.get(handle.toLowerCase());
      const given = pnlOfUser.get(index);
      if (given) return { ...given, handle: user.handle };
      return {
        handle: user.handle,
        displayName: user.name,
        wallet: user.solanaAddress,
        evmWallet: user.evmAddress,
        updatedAt: null,
        windows: { ...nothing },
      };
    },
  };
}
