import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58 } from '@scure/base';
import { hash, mix, unmix } from './hash.ts';

const EVM_FORM = /^0x[0-9a-f]{40}$/i;
const SOLANA_FORM = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/**
 * Addresses or ids that contain an index in their first four bytes, so that the record of an address is found
 * without a table. The other bytes are hashes of the index.
 */
export interface Numbered {
  bytes(index: number, length: number): Uint8Array;
  /**
   * Returns the index that the first four bytes encode. Because any four bytes encode an index, the caller
   * must check that the address of this index is the given one.
   */
  indexOf(bytes: Uint8Array): number;
}

/** Derives addresses or ids from a seed and a salt. */
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
    indexOf: (bytes) => (unmix(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)) ^ key) >>> 0,
  };
}

/** Bytes as lower-case hex digits. */
export const bytesToHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

/** 32 bytes as a Solana address. */
export const solanaOf = (bytes: Uint8Array): string => base58.encode(bytes);

/** The 32 bytes of a Solana address; undefined for other texts. */
export function solanaBytes(text: string): Uint8Array | undefined {
  if (!SOLANA_FORM.test(text)) return undefined;
  const bytes = base58.decode(text);
  return bytes.length === 32 ? bytes : undefined;
}

/** 20 bytes as an EVM address in lower case. */
export const evmOf = (bytes: Uint8Array): string => `0x${bytesToHex(bytes)}`;

/** The 20 bytes of an EVM address in upper or lower case; undefined for other texts. */
export const evmBytes = (text: string): Uint8Array | undefined =>
  EVM_FORM.test(text) ? new Uint8Array(Buffer.from(text.slice(2), 'hex')) : undefined;

/** Adds the EIP-55 checksum to an EVM address. */
export function checksummed(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const sum = bytesToHex(keccak_256(Buffer.from(digits, 'latin1')));
  let out = '0x';
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charAt(at);
    out += sum.charCodeAt(at) >= 0x38 ? digit.toUpperCase() : digit;
  }
  return out;
}

/** Bytes as a version 4 UUID. */
export function uuidOf(bytes: Uint8Array): string {
  const hex = bytesToHex(bytes);
  // Version and variant replace two digits that are not part of the encoded index.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The first four bytes of a UUID; undefined for other texts. */
export const uuidHead = (text: string): Uint8Array | undefined =>
  /^[0-9a-f]{8}-/i.test(text) ? new Uint8Array(Buffer.from(text.slice(0, 8), 'hex')) : undefined;

/** Normalizes an address as the service does: EVM in lower case, anything else unchanged. */
export const normalAddress = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;
