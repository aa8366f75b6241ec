import type { StoreConnection } from './connection.ts';

/** A reply as a list; empty if the reply is not a list. */
export const listReply = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);
/** A reply as a number; 0 if the reply is not a number. */
export const number = (value: unknown): number => (Number.isFinite(Number(value)) ? Number(value) : 0);

/** A list of alternating names and values as a map. */
export function fieldsReply(answer: unknown): Map<string, string> {
  const flat = listReply(answer);
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) fields.set(String(flat[at]), String(flat[at + 1]));
  return fields;
}

/** All fields of a hash. */
export const hashReply = async (store: StoreConnection, key: string): Promise<Map<string, string>> =>
  fieldsReply(await store.send('HGETALL', [key]));

/** The time of the server's clock. */
export async function serverNow(store: StoreConnection): Promise<number> {
  const [seconds, micros] = listReply(await store.send('TIME', [])).map(Number);
  return (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
}
