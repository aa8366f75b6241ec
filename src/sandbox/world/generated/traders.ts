import type { User } from '../../../contract/records/user.ts';
import {
  below,
  pick,
  type Random,
  randomEvm,
  randomHex,
  randomOf,
  randomSolana,
  randomUuid,
} from '../../random.ts';
import type { ResolvePlan } from '../world.ts';
import { fixedTraders, type Persona } from './fixed-traders.ts';
import { bios, firsts, seconds, unusualNames } from './words.ts';

/** A trader of a generated world, about whom the other records are. */
export interface Trader {
  readonly persona: Persona;
  readonly user: User;
  /** The X handle, without @ and URL. */
  readonly x: string | null;
  readonly followers: number | null;
}

/** Makes `wanted` traders, most active first; at least the fixed ones. */
export function makeTraders(seed: number, wanted: number): Trader[] {
  const random = randomOf(seed, 'traders');
  const taken = new Set(fixedTraders.map(({ handle }) => handle.toLowerCase()));
  const traders = fixedTraders.map((persona) => traderOf(randomOf(0, persona.handle), persona));
  while (traders.length < wanted) {
    const made = handleOf(random);
    const handle = taken.has(made.toLowerCase()) ? `${made}_${traders.length}` : made;
    taken.add(handle.toLowerCase());
    traders.push(traderOf(random, personaOf(random, handle)));
  }
  return traders;
}

function traderOf(random: Random, persona: Persona): Trader {
  const { handle, name, bio, solana, evm, plan } = persona;
  const plain = handle.replace(/[^A-Za-z0-9_]/g, '').slice(0, 15);
  const x = handle === 'mira' || (plain.length >= 3 && random() < 0.7) ? plain : null;
  const images = `https://images.example/${randomHex(random, 8)}`;
  const user: User = {
    id: randomUuid(random),
    handle,
    name,
    bio,
    banner: random() < 0.3 ? null : `${images}/banner.jpg`,
    profilePicture: random() < 0.15 ? null : `${images}/avatar.png`,
    twitter: x === null ? null : `https://x.com/${x}`,
    solanaAddress: plan ? null : solana,
    evmAddress: plan ? null : evm,
  };
  const followers = random() < 0.1 ? null : below(random, random() < 0.2 ? 90_000 : 2_000);
  return { persona, user, x, followers };
}

function personaOf(random: Random, handle: string): Persona {
  const chains = random();
  return {
    handle,
    name: nameOf(random, handle),
    bio: random() < 0.25 ? null : pick(random, bios),
    solana: chains < 0.8 ? randomSolana(random) : null,
    evm: chains > 0.4 ? randomEvm(random) : null,
    plan: random() < 0.12 ? planOf(random) : undefined,
    idle: random() < 0.04,
  };
}

function planOf(random: Random): ResolvePlan {
  if (random() < 0.5) return { outcome: 'found', ms: 1_000 + below(random, 5_000), queue: below(random, 5) };
  const reasons = ['timeout', 'unavailable', 'rate_limited', 'no_preview', 'not_ingested'] as const;
  return { outcome: 'pending', reason: pick(random, reasons) };
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function nameOf(random: Random, handle: string): string | null {
  const draw = random();
  if (draw < 0.05) return null;
  if (draw < 0.2) return pick(random, unusualNames);
  return draw < 0.4 ? handle : `${capitalize(pick(random, firsts))} ${capitalize(pick(random, seconds))}`;
}

function handleOf(random: Random): string {
  const [first, second, number] = [pick(random, firsts), pick(random, seconds), below(random, 1_000)];
  return pick(random, [
    `${capitalize(first)}${capitalize(second)}`,
    `${first}_${second}`,
    // A handle that looks like the beginning of an EVM address.
    `0x${capitalize(second)}${number}`,
    `${first}${second}${number}`,
    `${second}${number}.sol`,
    `${capitalize(second)}${number}`,
    `${first}-${second}`,
    `${first}${second}`,
  ]);
}
