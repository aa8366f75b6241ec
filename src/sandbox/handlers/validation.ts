import { normalHandle } from '../../contract/handles.ts';
import { isEvmAddress, isSolanaAddress } from '../world/address.ts';

/** Describes what is wrong with a handle; null if it is valid. */
export function handleError(text: string): string | null {
  if (normalHandle(text) === '') return 'handle: must not be empty.';
  return /[\s\p{Cc}]/u.test(text) ? 'handle: must not contain white space or control characters.' : null;
}

/** Describes what is wrong with an address; null if it is valid. */
export function addressError(address: string): string | null {
  if (/^0x/i.test(address)) {
    return isEvmAddress(address) ? null : 'address: an EVM address has 40 hex digits after 0x.';
  }
  if (isSolanaAddress(address)) return null;
  return 'address: must be a Solana address (base58, 32 bytes) or an EVM address (0x and 40 hex digits).';
}
