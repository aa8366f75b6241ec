/** `7xKX…9fQ2`, `0x1a2b…9f0e`. */
export function shortAddress(address: string, ellipsis: string): string {
  const front = address.startsWith('0x') ? 6 : 4;
  if (address.length <= front + 4 + ellipsis.length || !/^[\x21-\x7e]*$/.test(address))
    return address;
  return `${address.slice(0, front)}${ellipsis}${address.slice(-4)}`;
}
