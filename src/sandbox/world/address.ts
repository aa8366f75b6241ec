import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58 } from '@scure/base';
import { hash, mix, unmix } from './hash.ts';

const EVM_FORM = /^0x[0-9a-f]{40}$/i;
const SOLANA_FORM = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/**
 * A family of addresses or ids numbered by index. The first four bytes are the index, mixed, so an address
 * leads back to its index without a table; the others are hashes that prove it.
 */
export interface Numbered {
  bytes(index: number, length: number): Uint8Array;
  /** The index whose bytes these would be; the caller checks that they are. */
  guess(bytes: Uint8Array): number;
}

/** The family that `seed` and `salt` give. */
export function numbered(seed: number, salt: number): Numbered {
  const key = hash(seed, salt, 0xfeed);
  return {
    bytes(index, length) {
      const bytes = new Uint8Array(length);
      const view = new DataView(bytes.buffer);
      view.setUint32(0, mix(index ^ key));
      for (let at = 4; at < length; at += 4) view.setUint32(at, hash(key, at, index));
      return bytes;
    },
    guess: (bytes) => (unmix(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)) ^ key) >>> 0,
  };
}

/** Bytes as lower-case hex digits. */
export const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

/** 32 bytes as a Solana address. */
export const solanaOf = (bytes: Uint8Array): string => base58.encode(bytes);

/** The 32 bytes of a Solana address; undefined where the text is none. */
export function solanaBytes(text: string): Uint8Array | undefined {
  if (!SOLANA_FORM.test(text)) return undefined;
  const bytes = base58.decode(text);
  return bytes.length === 32 ? bytes : undefined;
}

/** 20 bytes as a lower-cased EVM address. */
export const evmOf = (bytes: Uint8Array): string => `0x${hexOf(bytes)}`;

/** The 20 bytes of an EVM address in any case; undefined where the text is none. */
export const evmBytes = (text: string): Uint8Array | undefined =>
  EVM_FORM.test(text) ? new Uint8Array(Buffer.from(text.slice(2), 'hex')) : undefined;

/** Writes an EVM address with the capitals that are its checksum (EIP-55). */
export function checksummed(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const sum = hexOf(keccak_256(Buffer.from(digits, 'latin1')));
  let out = '0x';
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charAt(at);
    out += sum.charCodeAt(at) >= 0x38 ? digit.toUpperCase() : digit;
  }
  return out;
}

/** Bytes as a UUID of version 4. */
export function uuidOf(bytes: Uint8Array): string {
  const hex = hexOf(bytes);
  // Version and variant take the places of a digit each; the four bytes that name the index stay whole.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The first four bytes of a UUID; undefined where the text is none. */
export const uuidHead = (text: string): Uint8Array | undefined =>
  /^[0-9a-f]{8}-/i.test(text) ? new Uint8Array(Buffer.from(text.slice(0, 8), 'hex')) : undefined;

/** As the service compares token addresses and wallets: EVM lower-cased, anything else as it is. */
export const normalAddress = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;
