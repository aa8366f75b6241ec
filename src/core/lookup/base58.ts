const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const digitOf = new Map([...ALPHABET].map((character, digit) => [character, digit]));

export const isBase58 = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]+$/.test(text);

/** Undefined if the text is not base58. */
export function base58Bytes(text: string): number | undefined {
  const bytes: number[] = [];
  for (const character of text) {
    let carry = digitOf.get(character);
    if (carry === undefined) return undefined;
    for (let index = 0; index < bytes.length; index++) {
      carry += (bytes[index] ?? 0) * 58;
      bytes[index] = carry & 0xff;
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff);
  }
  // Each leading 1 is a zero byte.
  return bytes.length + (/^1*/.exec(text)?.[0].length ?? 0);
}
