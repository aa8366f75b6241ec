import { type Pnl, type PnlWindow, windowNames } from '../../contract/records/pnl.ts';
import type { User } from '../../contract/records/user.ts';
import {
  below,
  pick,
  type Random,
  randomEvm,
  randomHex,
  randomOf,
  randomSolana,
  randomUuid,
  round2,
} from '../random.ts';
import { type Persona, people, type Wallets } from './people.ts';
import type { Identity } from './source.ts';
import { bios, firsts, seconds, unusualNames } from './texts.ts';

export interface Trader extends Persona {
  readonly user: User;
  /** The wallets of the trader, verified or not. */
  readonly proven: Wallets;
  /** Who the trader is in every second term; undefined if that never changes. */
  readonly other: Identity | undefined;
}

export function makeTraders(seed: number, wanted: number): Trader[] {
  const random = randomOf(seed, 'traders');
  const taken = new Set(people.map(({ handle }) => handle.toLowerCase()));
  const traders = people.map((persona) => traderOf(randomOf(0, persona.handle), persona));
  while (traders.length < wanted) {
    const made = handleOf(random);
    const handle = taken.has(made.toLowerCase()) ? `${made}_${traders.length}` : made;
    taken.add(handle.toLowerCase());
    traders.push(traderOf(random, personaOf(random, handle)));
  }
  return traders;
}

const laterIdentity = (
  now: Identity,
  { handle, wallets }: NonNullable<Persona['later']>,
): Identity => ({
  ...now,
  ...wallets,
  handle: handle ?? now.handle,
});

const NO_WALLETS: Wallets = { solanaAddress: null, evmAddress: null };

function traderOf(random: Random, persona: Persona): Trader {
  const { handle, name = null, bio = null, wallets, plan, socials } = persona;
  const x = handle.replace(/\W/g, '').slice(0, 15);
  const images = `https://images.example/${randomHex(random, 8)}`;
  const solanaAddress = wallets === 'evm' ? null : randomSolana(random);
  const evmAddress = wallets === 'solana' ? null : randomEvm(random);
  const ownWallets = typeof wallets === 'object' ? wallets : { solanaAddress, evmAddress };
  const verified = plan ? NO_WALLETS : ownWallets;
  const user = {
    id: randomUuid(random),
    handle,
    name,
    bio,
    banner: random() < 0.3 ? null : `${images}/banner.jpg`,
    profilePicture: random() < 0.15 ? null : `${images}/avatar.png`,
    twitter: random() < 0.3 && !persona.isSample ? null : `https://x.com/${x}`,
    ...verified,
    ...(socials && { socials }),
  };
  return {
    ...persona,
    user,
    proven: ownWallets,
    other: persona.later && laterIdentity({ handle, ...verified }, persona.later),
  };
}

const personaOf = (random: Random, handle: string): Persona => ({
  handle,
  name: random() < 0.2 ? pick(random, [null, handle, ...unusualNames]) : nameOf(random),
  bio: random() < 0.25 ? null : pick(random, bios),
  ...(random() < 0.6 && { wallets: pick(random, ['solana', 'evm']) }),
});

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const nameOf = (random: Random): string =>
  `${capitalize(pick(random, firsts))} ${capitalize(pick(random, seconds))}`;

function handleOf(random: Random): string {
  const [first, second, number] = [
    pick(random, firsts),
    pick(random, seconds),
    below(random, 1_000),
  ];
  return pick(random, [
    `${capitalize(first)}${capitalize(second)}`,
    `${first}_${second}`,
    // A handle that looks like the beginning of an EVM address.
    `0x${capitalize(second)}${number}`,
    `${first}${second}${number}`,
    `${second}${number}.sol`,
    `${first}-${second}`,
    `${first}${second}`,
  ]);
}

export function makeNumbers(random: Random, traders: readonly Trader[], now: number): Pnl[] {
  const active = traders.filter(({ plan, isIdle }) => !plan && !isIdle);
  const numbers = active.map(({ user }, place): Pnl => {
    const { handle, name, profilePicture, twitter, solanaAddress, evmAddress } = user;
    return {
      handle,
      displayName: name,
      avatarUrl: profilePicture,
      twitter: twitter?.slice('https://x.com/'.length) ?? null,
      followers: random() < 0.1 ? null : below(random, random() < 0.2 ? 90_000 : 2_000),
      wallet: solanaAddress,
      evmWallet: evmAddress,
      updatedAt: Math.floor(now / 60_000) * 60_000,
      windows: windowsOf(random, place),
    };
  });
  for (const name of windowNames) rank(numbers.flatMap(({ windows }) => windows[name] ?? []));
  return numbers;
}

/**
 * The days that each window adds to the shorter one before it: windows contain each other, as real
 * ones do.
 */
const days = { '24h': 1, '7d': 6, '30d': 23, all: 90 } as const;

function windowsOf(random: Random, place: number): Pnl['windows'] {
  // Most traders trade with a few dollars, some with thousands.
  const size = 20 + 1_500 * random() ** 3;
  const amount = (swaps: number) => swaps * size * (0.7 + 0.6 * random());
  let bought = 0;
  let sold = 0;
  let trades = 0;
  const windowOf = (name: keyof typeof days): PnlWindow => {
    const buys = Math.floor(days[name] * (0.2 + 40 / (1 + place)) * (0.4 + random()));
    const sells = buys === 0 ? 1 : Math.round(buys * (0.7 + 0.6 * random()));
    bought = round2(bought + amount(buys));
    sold = round2(sold + amount(sells));
    trades += buys + sells;
    const netUsd = round2(sold - bought);
    const returnPct = bought === 0 ? null : round2((netUsd / bought) * 100);
    return { netUsd, returnPct, volumeUsd: round2(bought + sold), trades, rank: 0 };
  };
  return {
    '24h': windowOf('24h'),
    '7d': windowOf('7d'),
    '30d': windowOf('30d'),
    all: windowOf('all'),
  };
}

/** Standard competition ranking (1, 2, 2, 4), highest first. */
function rank(windows: readonly PnlWindow[]): void {
  const sorted = windows.toSorted((one, other) => other.netUsd - one.netUsd);
  sorted.forEach((window, place) => {
    const above = sorted[place - 1];
    window.rank = above?.netUsd === window.netUsd ? above.rank : place + 1;
  });
}
