/**
 * The records by their keys. A file may have several records with one key: the first one is found,
 * always the same.
 */
export function firstBy<T>(
  records: readonly T[],
  keysOf: (record: T) => readonly string[],
): Map<string, T> {
  const pairs = records.flatMap((record) =>
    keysOf(record).map((key): [string, T] => [key, record]),
  );
  return new Map(pairs.reverse());
}

/** Normalizes an address as the service does: EVM in lower case, anything else unchanged. */
export const normalAddress = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;
