import type { Pnl } from '../../../contract/records/pnl.ts';
import type { User } from '../../../contract/records/user.ts';
import { normalAddress } from '../address.ts';
import type { NumbersSource } from '../source.ts';
import type { UserSource } from '../user-store.ts';

/** How many users of the file are sample accounts, whose wallets a free key can reveal. */
const SAMPLES = 10;

/** Users from a file. If several records have the same id or wallet, the first one is used. */
export function loadedUsers(records: readonly User[]): UserSource & { readonly records: readonly User[] } {
  const byId = new Map<string, number>();
  const byWallet = new Map<string, number>();
  const addFirst = (map: Map<string, number>, key: string, index: number) => {
    if (!map.has(key)) map.set(key, index);
  };
  records.forEach((user, index) => {
    addFirst(byId, user.id.toLowerCase(), index);
    for (const address of [user.solanaAddress, user.evmAddress]) {
      if (address !== null) addFirst(byWallet, normalAddress(address), index);
    }
  });

  return {
    records,
    handles: records.map(({ handle }) => handle),
    record(index) {
      const user = records[index];
      if (!user) throw new RangeError(`user record ${index} does not exist`);
      return user;
    },
    verified: () => true,
    indexOfId: (id) => byId.get(id.toLowerCase()),
    indexOfWallet: (address) => byWallet.get(normalAddress(address)),
    isSample: (index) => index < SAMPLES,
    // A live search does not find wallets that are not in the file.
    resolvePlan: () => ({ outcome: 'pending', reason: 'no_preview' }),
  };
}

/** Numbers from a file. A record belongs to the user with the same handle. */
export function loadedNumbers(
  { records }: { readonly records: readonly User[] },
  numbers: readonly Pnl[],
): NumbersSource {
  const indexByHandle = new Map<string, number>();
  for (const [index, { handle }] of records.entries()) {
    if (!indexByHandle.has(handle.toLowerCase())) indexByHandle.set(handle.toLowerCase(), index);
  }
  const byUser = new Map<number, Pnl>();
  const byUnknownHandle = new Map<string, Pnl>();
  for (const pnl of numbers) {
    const index = indexByHandle.get(pnl.handle.toLowerCase());
    if (index === undefined) byUnknownHandle.set(pnl.handle.toLowerCase(), pnl);
    else byUser.set(index, pnl);
  }
  return {
    of(index) {
      const user = records[index];
      return (
        byUser.get(index) ?? {
          handle: user?.handle ?? '',
          displayName: user?.name ?? null,
          wallet: user?.solanaAddress ?? null,
          evmWallet: user?.evmAddress ?? null,
          updatedAt: null,
          windows: { '24h': null, '7d': null, '30d': null, all: null },
        }
      );
    },
    ofUnknownHandle: (handle) => byUnknownHandle.get(handle),
  };
}
