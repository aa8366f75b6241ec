import { base58 } from '@scure/base';

export const isSolanaAddress = (text: string): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) && base58.decode(text).length === 32;

export const isEvmAddress = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text);

/** Normalizes an address as the service does: EVM in lower case, anything else unchanged. */
export const normalAddress = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;
