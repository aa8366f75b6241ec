import type { Social, User } from '../../../contract/records/user.ts';
import { hash, pick } from '../hash.ts';
import type { FixedTrader } from './fixed-traders.ts';
import { bios, firsts, seconds, unusualNames } from './words.ts';

/** The public profile of a trader. */
export interface TraderProfile extends Pick<User, 'name' | 'bio' | 'banner' | 'profilePicture'> {
  /** The X handle without @ and URL. */
  readonly x: string | null;
  readonly followers: number | null;
  readonly socials: Social[];
}

/** A word with its first letter in upper case. */
export const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Creates a profile from a hash. A fixed trader has a given name and bio. */
export function createProfile(bits: number, fixed: FixedTrader | undefined, handle: string): TraderProfile {
  const more = rehash(bits);
  const plain = handle.replace(/[^A-Za-z0-9_]/g, '').slice(0, 15);
  const x = plain.length >= 3 && more % 10 < 7 ? plain : null;
  const images = `https://images.example/${bits.toString(16)}`;
  return {
    name: fixed ? fixed.name : nameOf(bits, handle),
    bio: fixed ? fixed.bio : more % 4 === 0 ? null : pick(bios, more >>> 8),
    banner: bits % 3 === 0 ? null : `${images}/banner.jpg`,
    profilePicture: bits % 7 === 0 ? null : `${images}/avatar.png`,
    x,
    followers: more % 9 === 0 ? null : (more >>> 12) % (more % 5 === 0 ? 90_000 : 2_000),
    socials: socialsOf(more, x),
  };
}

const rehash = (bits: number) => hash(bits, 1, 1);

function nameOf(bits: number, handle: string): string | null {
  const draw = (bits >>> 3) % 20;
  if (draw === 0) return null;
  if (draw < 4) return pick(unusualNames, bits >>> 9);
  if (draw < 8) return handle;
  return `${capitalize(pick(firsts, bits))} ${capitalize(pick(seconds, bits >>> 5))}`;
}

function socialsOf(bits: number, x: string | null): Social[] {
  const subject = (part: number) => String(1_000_000 + hash(bits, part, 3));
  const socials: Social[] = [];
  if (x !== null) socials.push({ provider: 'x', subject: subject(1), handle: x });
  if (bits % 3 === 0) {
    socials.push({
      provider: 'telegram',
      subject: subject(2),
      handle: bits % 2 ? null : `tg_${bits % 10_000}`,
    });
  }
  if (bits % 11 === 0) socials.push({ provider: 'youtube', subject: `UC${subject(3)}`, handle: null });
  if (bits % 13 === 0)
    socials.push({ provider: 'reddit', subject: `t2_${subject(4)}`, handle: `u_${bits % 999}` });
  return socials;
}
