import {
  checksummed,
  evmBytes,
  evmOf,
  numbered,
  solanaBytes,
  solanaOf,
  uuidHead,
  uuidOf,
} from '../address.ts';
import { hash, pick, SECOND, unit } from '../hash.ts';
import type { ResolvePlan } from '../types.ts';
import type { UserSource } from '../user-store.ts';
import { BOTH, EVM, fixedTraders, SOLANA } from './fixed-traders.ts';
import { capitalize, createProfile, type TraderProfile } from './profile.ts';
import { firsts, seconds } from './words.ts';

/** The traders of a generated world, by index. Profiles and addresses are created on first use. */
export interface Traders {
  readonly count: number;
  readonly users: UserSource;
  /** The chains on which a trader has a wallet, verified or not, as bit flags. */
  chains(index: number): number;
  /** Whether the wallets are verified when the sandbox starts. */
  verified(index: number): boolean;
  /** The owner of a trader's wallets: the trader itself or, for a twin, the trader with the same wallets. */
  owner(index: number): number;
  /** The traders who trade, most active first. */
  readonly active: Uint32Array;
  id(index: number): string;
  indexOfId(id: string): number | undefined;
  solana(index: number): string | null;
  evm(index: number): string | null;
  profile(index: number): TraderProfile;
}

const salt = { handle: 11, chains: 12, verified: 13, idle: 14, twin: 15, plan: 16, profile: 17, sample: 18 };
const reasons = ['timeout', 'unavailable', 'rate_limited', 'no_preview', 'not_ingested'] as const;
/** The seed of fixed traders, who have the same addresses in every world, so that docs can show them. */
const FIXED_SEED = 0x7d2d;

/** Creates `wanted` traders; at least the fixed ones. */
export function createTraders(seed: number, wanted: number): Traders {
  const count = Math.max(fixedTraders.length, wanted);
  const handles = makeHandles(seed, count);
  const chains = new Uint8Array(count);
  const verified = new Uint8Array(count);
  const owner = new Uint32Array(count);
  const active = new Uint32Array(count);
  let actives = 0;
  for (let index = 0; index < count; index++) {
    const fixed = fixedTraders[index];
    const twin = fixed ? fixed.twin : twinOf(index);
    owner[index] = twin ?? index;
    if (twin !== undefined) chains[index] = chains[twin] ?? BOTH;
    else if (fixed) chains[index] = fixed.chains;
    else {
      const draw = unit(seed, salt.chains, index);
      chains[index] = draw < 0.45 ? BOTH : draw < 0.8 ? SOLANA : EVM;
    }
    const isVerified = fixed ? !fixed.plan : twin !== undefined || unit(seed, salt.verified, index) < 0.88;
    verified[index] = isVerified ? 1 : 0;
    const idle = fixed ? fixed.idle : twin !== undefined || unit(seed, salt.idle, index) < 0.04;
    if (!idle) active[actives++] = index;
  }

  function twinOf(index: number): number | undefined {
    if (unit(seed, salt.twin, index) > 0.015) return undefined;
    const other = hash(seed, salt.twin, index + 1) % index;
    return verified[other] && owner[other] === other ? other : undefined;
  }

  // The ids of fixed traders are generated from a seed of their own.
  const idSets = (kind: number) => [numbered(FIXED_SEED, kind), numbered(seed, kind)] as const;
  const ids = idSets(1);
  const solanas = idSets(2);
  const evms = idSets(3);
  const setOf = <T>(pair: readonly [T, T], index: number) =>
    index < fixedTraders.length ? pair[0] : pair[1];
  const candidates = (pair: typeof ids, bytes: Uint8Array | undefined) =>
    bytes === undefined ? [] : pair.map((set) => set.indexOf(bytes)).filter((index) => index < count);

  const id = memo((index) => uuidOf(setOf(ids, index).bytes(index, 16)));
  const solana = memo((index) => solanaOf(setOf(solanas, index).bytes(index, 32)));
  const evm = memo((index) => checksummed(evmOf(setOf(evms, index).bytes(index, 20))));

  const profile = memo((index) =>
    createProfile(
      hash(fixedTraders[index] ? FIXED_SEED : seed, salt.profile, index),
      fixedTraders[index],
      handles[index] ?? '',
    ),
  );

  const has = (index: number, chain: number) => ((chains[index] ?? 0) & chain) !== 0;
  const solanaOfTrader = (index: number) => (has(index, SOLANA) ? solana(owner[index] ?? index) : null);
  const evmOfTrader = (index: number) => (has(index, EVM) ? evm(owner[index] ?? index) : null);
  const isVerified = (index: number) => verified[index] === 1;
  const indexOfId = (text: string) =>
    candidates(ids, uuidHead(text)).find((index) => id(index) === text.toLowerCase());

  const users: UserSource = {
    handles,
    record(index) {
      const { name, bio, banner, profilePicture, x, socials } = profile(index);
      return {
        id: id(index),
        handle: handles[index] ?? '',
        name,
        bio,
        banner,
        profilePicture,
        twitter: x === null ? null : `https://x.com/${x}`,
        solanaAddress: solanaOfTrader(index),
        evmAddress: evmOfTrader(index),
        socials,
      };
    },
    verified: isVerified,
    indexOfId,
    // An address belongs to its owner, never to a twin.
    indexOfWallet(address) {
      const lowerCase = address.toLowerCase();
      return (
        candidates(solanas, solanaBytes(address)).find(
          (index) => has(index, SOLANA) && owner[index] === index && solana(index) === address,
        ) ??
        candidates(evms, evmBytes(address)).find(
          (index) => has(index, EVM) && owner[index] === index && evm(index).toLowerCase() === lowerCase,
        )
      );
    },
    isSample(index) {
      const fixed = fixedTraders[index];
      return fixed ? fixed.sample === true : index < 60 && unit(seed, salt.sample, index) < 0.1;
    },
    resolvePlan: (index) => fixedTraders[index]?.plan ?? planOf(seed, index),
  };

  return {
    count,
    users,
    chains: (index) => chains[index] ?? 0,
    verified: isVerified,
    owner: (index) => owner[index] ?? index,
    active: active.subarray(0, actives),
    id,
    indexOfId,
    solana: solanaOfTrader,
    evm: evmOfTrader,
    profile,
  };
}

/** Caches results that take long to compute and are requested often. */
function memo<T>(make: (index: number) => T): (index: number) => T {
  const made: T[] = [];
  return (index) => (made[index] ??= make(index));
}

function makeHandles(seed: number, count: number): string[] {
  const taken = new Set<string>();
  const handles: string[] = [];
  for (let index = 0; index < count; index++) {
    const made = fixedTraders[index]?.handle ?? handleOf(hash(seed, salt.handle, index));
    const handle = taken.has(made.toLowerCase()) ? `${made}_${index}` : made;
    taken.add(handle.toLowerCase());
    handles.push(handle);
  }
  return handles;
}

function handleOf(bits: number): string {
  const first = pick(firsts, bits);
  const second = pick(seconds, bits >>> 5);
  const number = (bits >>> 12) % 1000;
  switch ((bits >>> 24) % 8) {
    case 0:
      return `${capitalize(first)}${capitalize(second)}`;
    case 1:
      return `${first}_${second}`;
    case 2:
      // A handle that looks like the beginning of an EVM address.
      return `0x${capitalize(second)}${number}`;
    case 3:
      return `${first}${second}${number}`;
    case 4:
      return `${second}${number}.sol`;
    case 5:
      return `${capitalize(second)}${number}`;
    case 6:
      return `${first}-${second}`;
    default:
      return `${first}${second}`;
  }
}

function planOf(seed: number, index: number): ResolvePlan {
  const bits = hash(seed, salt.plan, index);
  if (bits % 2 === 0) {
    return { outcome: 'found', ms: SECOND + ((bits >>> 8) % (5 * SECOND)), queue: (bits >>> 4) % 5 };
  }
  return { outcome: 'pending', reason: pick(reasons, bits >>> 8) };
}
