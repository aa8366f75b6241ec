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
import { BOTH, cast, EVM, SOLANA } from './cast.ts';
import { capital, type Profile, profileOf } from './profile.ts';
import { firsts, seconds } from './words.ts';

/** Every trader of a generated world by index; what each looks like is made when asked for. */
export interface Traders {
  readonly count: number;
  /** Handles as first given. */
  readonly handles: readonly string[];
  /** Chains on which a trader has a wallet, held or not. */
  chains(index: number): number;
  /** Whether the wallets are held from the start. */
  held(index: number): boolean;
  /** The trader whose wallets these are: `index` itself but for twins. */
  owner(index: number): number;
  /** Those who trade, busiest first. */
  readonly active: Uint32Array;
  readonly sample: (index: number) => boolean;
  plan(index: number): ResolvePlan;
  id(index: number): string;
  indexOfId(id: string): number | undefined;
  solana(index: number): string | null;
  evm(index: number): string | null;
  /** The owner of an address, in any case where it is EVM; held or not. */
  indexOfWallet(address: string): number | undefined;
  profile(index: number): Profile;
}

const salt = { handle: 11, chains: 12, held: 13, idle: 14, twin: 15, plan: 16, profile: 17, sample: 18 };
const reasons = ['timeout', 'unavailable', 'rate_limited', 'no_preview', 'not_ingested'] as const;
/** The cast looks the same in every world, so that docs can show its addresses. */
const CAST_SEED = 0x7d2d;

/** Makes `count` traders (never fewer than the cast). */
export function createTraders(seed: number, wanted: number): Traders {
  const count = Math.max(cast.length, wanted);
  const handles = makeHandles(seed, count);
  const chains = new Uint8Array(count);
  const held = new Uint8Array(count);
  const owner = new Uint32Array(count);
  const active = new Uint32Array(count);
  let actives = 0;
  for (let index = 0; index < count; index++) {
    const fixed = cast[index];
    const twin = fixed ? fixed.twin : twinOf(index);
    owner[index] = twin ?? index;
    if (twin !== undefined) chains[index] = chains[twin] ?? BOTH;
    else if (fixed) chains[index] = fixed.chains;
    else {
      const draw = unit(seed, salt.chains, index);
      chains[index] = draw < 0.45 ? BOTH : draw < 0.8 ? SOLANA : EVM;
    }
    held[index] = (fixed ? !fixed.plan : twin !== undefined || unit(seed, salt.held, index) < 0.88) ? 1 : 0;
    const idle = fixed ? fixed.idle : twin !== undefined || unit(seed, salt.idle, index) < 0.04;
    if (!idle) active[actives++] = index;
  }

  function twinOf(index: number): number | undefined {
    if (unit(seed, salt.twin, index) > 0.015) return undefined;
    const other = hash(seed, salt.twin, index + 1) % index;
    return held[other] && owner[other] === other ? other : undefined;
  }

  // Two families of each: the cast's, and the seed's.
  const families = (kind: number) => [numbered(CAST_SEED, kind), numbered(seed, kind)] as const;
  const ids = families(1);
  const solanas = families(2);
  const evms = families(3);
  const familyOf = <T>(pair: readonly [T, T], index: number) => (index < cast.length ? pair[0] : pair[1]);
  const guesses = (pair: typeof ids, bytes: Uint8Array | undefined) =>
    bytes === undefined ? [] : pair.map((family) => family.guess(bytes)).filter((index) => index < count);

  const id = memo((index) => uuidOf(familyOf(ids, index).bytes(index, 16)));
  const solana = memo((index) => solanaOf(familyOf(solanas, index).bytes(index, 32)));
  const evm = memo((index) => checksummed(evmOf(familyOf(evms, index).bytes(index, 20))));

  const profile = memo((index) =>
    profileOf(hash(cast[index] ? CAST_SEED : seed, salt.profile, index), cast[index], handles[index] ?? ''),
  );

  return {
    count,
    handles,
    chains: (index) => chains[index] ?? 0,
    held: (index) => held[index] === 1,
    owner: (index) => owner[index] ?? index,
    active: active.subarray(0, actives),
    sample: (index) => {
      const fixed = cast[index];
      return fixed ? fixed.sample === true : index < 60 && unit(seed, salt.sample, index) < 0.1;
    },
    plan: (index) => cast[index]?.plan ?? planOf(seed, index),
    id,
    indexOfId: (text) => guesses(ids, uuidHead(text)).find((index) => id(index) === text.toLowerCase()),
    solana: (index) => ((chains[index] ?? 0) & SOLANA ? solana(owner[index] ?? index) : null),
    evm: (index) => ((chains[index] ?? 0) & EVM ? evm(owner[index] ?? index) : null),
    indexOfWallet(address) {
      const same = address.toLowerCase();
      return (
        guesses(solanas, solanaBytes(address)).find(
          (index) => (chains[index] ?? 0) & SOLANA && owner[index] === index && solana(index) === address,
        ) ??
        guesses(evms, evmBytes(address)).find(
          (index) =>
            (chains[index] ?? 0) & EVM && owner[index] === index && evm(index).toLowerCase() === same,
        )
      );
    },
    profile,
  };
}

/** Keeps what was made: it is dear to make and asked for again and again. */
function memo<T>(make: (index: number) => T): (index: number) => T {
  const made: T[] = [];
  return (index) => (made[index] ??= make(index));
}

function makeHandles(seed: number, count: number): string[] {
  const taken = new Set<string>();
  const handles: string[] = [];
  for (let index = 0; index < count; index++) {
    const made = cast[index]?.handle ?? handleOf(hash(seed, salt.handle, index));
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
      return `${capital(first)}${capital(second)}`;
    case 1:
      return `${first}_${second}`;
    case 2:
      // Like an address at first glance, and no address at all.
      return `0x${capital(second)}${number}`;
    case 3:
      return `${first}${second}${number}`;
    case 4:
      return `${second}${number}.sol`;
    case 5:
      return `${capital(second)}${number}`;
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
