import { evmBytes, solanaBytes } from '../world/address.ts';

/** What is wrong with an address; null where its form is right. */
export function flawOfAddress(address: string): string | null {
  if (/^0x/i.test(address)) return evmBytes(address) ? null : 'An EVM address has 40 hex digits after 0x.';
  if (solanaBytes(address)) return null;
  return 'Neither a Solana address (base58 of 32 bytes) nor an EVM address with 0x.';
}
