import { once } from '../../base/calls.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import type { User } from '../../contract/records/user.ts';
import { firstBy, normalAddress } from './lookup-keys.ts';
import type { Identity, ResolvePlan, WorldRecords } from './source.ts';

/** Who is who now: users by handle, id and wallet, and their numbers, which follow every change. */
export class Register {
  readonly #records: WorldRecords;
  readonly #byId: ReadonlyMap<string, User>;
  /** The numbers of a generated world are made on first use, because many runs do not need them. */
  readonly #numbers: () => Map<string, Pnl>;
  #byHandle: ReadonlyMap<string, User>;
  #byWallet: ReadonlyMap<string, User>;

  constructor(records: WorldRecords) {
    const { users } = records;
    this.#records = records;
    this.#byId = firstBy(users, ({ id }) => [id]);
    this.#byHandle = firstBy(users, handlesOf);
    this.#byWallet = firstBy(users, walletsOf);
    this.#numbers = once(() => firstBy(records.numbers(), ({ handle }) => [handle.toLowerCase()]));
  }

  handles(): readonly string[] {
    return this.#records.users.map(({ handle }) => handle);
  }

  user(handle: string): User | undefined {
    return this.#byHandle.get(handle.toLowerCase());
  }

  userById(id: string): User | undefined {
    return this.#byId.get(id);
  }

  userByWallet(address: string): User | undefined {
    return this.#byWallet.get(normalAddress(address));
  }

  pnl(handle: string): Pnl | undefined {
    const user = this.user(handle);
    return this.#numbers().get(handle.toLowerCase()) ?? (user && blankNumbers(user));
  }

  resolvePlan(id: string): ResolvePlan {
    return this.#records.unverified.get(id)?.plan ?? { outcome: 'pending', reason: 'no_preview' };
  }

  /** Makes the wallets verified that a live resolve has found. */
  reveal(id: string): void {
    const hidden = this.#records.unverified.get(id);
    if (!hidden) return;
    const { solanaAddress, evmAddress } = hidden;
    this.change(new Map([[id, { solanaAddress, evmAddress }]]));
  }

  /** All at once, because a handle or a wallet may pass from one user to another. */
  change(identities: ReadonlyMap<string, Partial<Identity>>): void {
    const changed = [...identities].flatMap(([id, identity]) => {
      const user = this.userById(id);
      return user && isOther(user, identity) ? { user, identity } : [];
    });
    if (changed.length === 0) return;
    const numbers = this.#numbers();
    const pnls = changed.map(({ user }) => take(numbers, user.handle.toLowerCase()));
    for (const { user, identity } of changed) Object.assign(user, identity);
    this.#byHandle = firstBy(this.#records.users, handlesOf);
    this.#byWallet = firstBy(this.#records.users, walletsOf);
    for (const [at, { user }] of changed.entries()) {
      const { handle, solanaAddress: wallet, evmAddress: evmWallet } = user;
      const pnl = pnls[at];
      if (pnl) numbers.set(handle.toLowerCase(), { ...pnl, handle, wallet, evmWallet });
    }
  }
}

const handlesOf = ({ handle }: User): string[] => [handle.toLowerCase()];

const walletsOf = ({ solanaAddress, evmAddress }: User): string[] =>
  [solanaAddress, evmAddress].flatMap((address) =>
    address === null ? [] : normalAddress(address),
  );

const isOther = (user: User, identity: Partial<Identity>): boolean =>
  (['handle', 'solanaAddress', 'evmAddress'] as const).some(
    (name) => identity[name] !== undefined && identity[name] !== user[name],
  );

function take<T>(map: Map<string, T>, key: string): T | undefined {
  const value = map.get(key);
  map.delete(key);
  return value;
}

/**
 * The service answers with nulls for a user who has never traded; only an unknown handle is a 404.
 */
const blankNumbers = ({ handle, name, profilePicture, solanaAddress, evmAddress }: User): Pnl => ({
  handle,
  displayName: name,
  avatarUrl: profilePicture,
  twitter: null,
  followers: null,
  updatedAt: null,
  wallet: solanaAddress,
  evmWallet: evmAddress,
  windows: { '24h': null, '7d': null, '30d': null, all: null },
});
