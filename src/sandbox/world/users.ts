import { usage } from '../../contract/failure.ts';
import type { User } from '../../contract/records/user.ts';
import type { Traders } from './generated/traders.ts';
import type { World } from './types.ts';

/** The users of a generated world, and what the other parts of it ask about them by index. */
export interface Users {
  readonly api: World['users'];
  indexOfHandle(handle: string): number | undefined;
  handle(index: number): string;
  /** Whether the wallets of a trader are held by now. */
  held(index: number): boolean;
  /** Grows whenever a wallet is revealed. */
  readonly reveals: number;
}

/** Puts renames and reveals over the traders. */
export function createUsers(traders: Traders, withSocials: boolean): Users {
  const handles = [...traders.handles];
  const byHandle = new Map<string, number>();
  for (const [index, handle] of handles.entries()) byHandle.set(handle.toLowerCase(), index);
  const revealed = new Set<number>();
  const held = (index: number) => traders.held(index) || revealed.has(index);

  function record(index: number): User {
    const profile = traders.profile(index);
    const shown = held(index);
    return {
      id: traders.id(index),
      handle: handles[index] ?? '',
      name: profile.name,
      bio: profile.bio,
      banner: profile.banner,
      profilePicture: profile.profilePicture,
      twitter: profile.x === null ? null : `https://x.com/${profile.x}`,
      solanaAddress: shown ? traders.solana(index) : null,
      evmAddress: shown ? traders.evm(index) : null,
      ...(withSocials ? { socials: profile.socials } : {}),
    };
  }

  function known(userId: string): number {
    const index = traders.indexOfId(userId);
    if (index === undefined) throw usage(`No user has the id ${userId}.`);
    return index;
  }

  const maybe = (index: number | undefined) => (index === undefined ? undefined : record(index));

  return {
    indexOfHandle: (handle) => byHandle.get(handle.toLowerCase()),
    handle: (index) => handles[index] ?? '',
    held,
    get reveals() {
      return revealed.size;
    },
    api: {
      byHandle: (handle) => maybe(byHandle.get(handle.toLowerCase())),
      byId: (id) => maybe(traders.indexOfId(id)),
      byWallet(address) {
        // An address leads to its owner, never to the owner's twins: the same answer each time.
        const index = traders.indexOfWallet(address);
        return index !== undefined && held(index) ? record(index) : undefined;
      },
      isSample(userId) {
        const index = traders.indexOfId(userId);
        return index !== undefined && traders.sample(index);
      },
      resolvePlan: (userId) => traders.plan(known(userId)),
      reveal(userId) {
        const index = known(userId);
        if (!traders.held(index)) revealed.add(index);
        return record(index);
      },
      rename(userId, handle) {
        const index = known(userId);
        const holder = byHandle.get(handle.toLowerCase());
        if (holder !== undefined && holder !== index) throw usage(`The handle ${handle} is taken.`);
        byHandle.delete((handles[index] ?? '').toLowerCase());
        byHandle.set(handle.toLowerCase(), index);
        handles[index] = handle;
      },
      handles,
    },
  };
}
