import type { LaunchpadUser } from '../../../contract/records/launchpad.ts';
import { numbered, solanaOf } from '../address.ts';
import { hash, pick } from '../hash.ts';
import { fixedTraders, SOLANA } from './fixed-traders.ts';
import type { Traders } from './traders.ts';
import { bios, firsts, seconds, unusualNames } from './words.ts';

/** The accounts of the launchpad by index. Some of them have the same wallet as a trader of the platform. */
export interface Accounts {
  readonly count: number;
  wallet(index: number): string;
  indexOf(wallet: string): number | undefined;
  record(index: number): LaunchpadUser;
}

const salt = { wallet: 81, form: 82 };
const badges = ['early', 'creator', 'whale', 'mod', '東京 club'] as const;

/** Creates the accounts. Some of them have the verified Solana wallet of a trader. */
export function createAccounts(seed: number, traders: Traders): Accounts {
  const count = Math.min(1_200, Math.max(250, Math.floor(traders.count * 0.6)));
  const ids = numbered(seed, salt.wallet);
  const wallets: string[] = [];
  let byWallet: Map<string, number> | undefined;

  function traderOf(index: number): number | undefined {
    const linked = index < fixedTraders.length || index % 4 === 0;
    if (!linked || index >= traders.count) return undefined;
    const own = traders.owner(index) === index && traders.verified(index);
    return own && traders.chains(index) & SOLANA ? index : undefined;
  }

  function wallet(index: number): string {
    const made = wallets[index];
    if (made !== undefined) return made;
    const trader = traderOf(index);
    const address = (trader === undefined ? null : traders.solana(trader)) ?? solanaOf(ids.bytes(index, 32));
    wallets[index] = address;
    return address;
  }

  return {
    count,
    wallet,
    indexOf(address) {
      if (!byWallet) {
        byWallet = new Map();
        for (let index = 0; index < count; index++) byWallet.set(wallet(index), index);
      }
      return byWallet.get(address);
    },
    record: (index) => accountOf(hash(seed, salt.form, index), wallet(index), nameOf(index)),
  };

  /** The username and the X handle of an account; undefined for a wallet that traded without creating an account. */
  function nameOf(index: number): { readonly username: string; readonly x: string | null } | undefined {
    const bits = hash(seed, salt.form, index);
    const trader = traderOf(index);
    if (trader !== undefined) {
      return { username: traders.users.handles[trader] ?? '', x: traders.profile(trader).x };
    }
    if (bits % 9 === 4) return undefined;
    const plain = `${pick(seconds, bits >>> 3)}${pick(firsts, bits >>> 8)}`;
    const username = bits % 23 === 1 ? pick(unusualNames, bits >>> 4) : `${plain}${bits % 100}`;
    return { username, x: bits % 2 ? plain.slice(0, 15) : null };
  }
}

function accountOf(
  bits: number,
  wallet: string,
  name: { readonly username: string; readonly x: string | null } | undefined,
): LaunchpadUser {
  if (!name) {
    const unknown = { username: null, bio: null, profileImage: null, xUsername: null, isVerified: null };
    return { wallet, ...unknown, isLaunchpadUser: false, followers: null, following: null, groupBadges: [] };
  }
  return {
    wallet,
    username: name.username,
    bio: bits % 3 === 0 ? null : pick(bios, bits >>> 7),
    profileImage: bits % 5 === 0 ? null : `https://images.example/launchpad/${bits.toString(16)}.png`,
    xUsername: name.x,
    isVerified: bits % 17 === 2 ? null : bits % 6 === 0,
    isLaunchpadUser: bits % 29 === 3 ? null : true,
    followers: (bits >>> 10) % (bits % 8 === 0 ? 50_000 : 400),
    following: bits % 19 === 5 ? null : (bits >>> 12) % 300,
    groupBadges: badges.filter((_, place) => (bits >>> (place + 2)) % 5 === 0),
  };
}
