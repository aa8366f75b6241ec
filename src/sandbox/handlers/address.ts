const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** What is wrong with an address; null where its form is right. */
export function flawOfAddress(address: string): string | null {
  if (/^0x/i.test(address)) {
    return /^0x[0-9a-f]{40}$/i.test(address) ? null : 'An EVM address has 40 hex digits after 0x.';
  }
  const bytes = bytesOfBase58(address);
  return bytes === 32 ? null : 'Neither a Solana address (base58 of 32 bytes) nor an EVM address with 0x.';
}

/** Addresses as the service compares them: EVM lower-cased, Solana as it is. */
export const normalAddress = (address: string) => (/^0x/i.test(address) ? address.toLowerCase() : address);

/** How many bytes a base58 text stands for; -1 where it is none. */
function bytesOfBase58(text: string): number {
  if (text.length > 44) return -1;
  let value = 0n;
  for (const char of text) {
    const digit = BASE58.indexOf(char);
    if (digit < 0) return -1;
    value = value * 58n + BigInt(digit);
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  return zeros + (value === 0n ? 0 : Math.ceil(value.toString(16).length / 2));
}
