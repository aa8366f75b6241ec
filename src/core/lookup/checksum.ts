import { keccak_256 } from '@noble/hashes/sha3.js';

/** EIP-55. */
export function holdsChecksum(address: string): boolean {
  const digits = address.slice(2);
  const hash = keccak_256(new TextEncoder().encode(digits.toLowerCase()));
  return [...digits].every((digit, index) => {
    const nibble = ((hash[index >> 1] ?? 0) >> (index % 2 === 0 ? 4 : 0)) & 0xf;
    return digit === (nibble >= 8 ? digit.toUpperCase() : digit.toLowerCase());
  });
}
