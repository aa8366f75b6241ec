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

/** Normalizes a token as the service does: EVM in lower case, anything else unchanged. */
export const normalAddress = (address: string): string =>
  address.startsWith('0x') ? address.toLowerCase() : address;
