import type { StoreConnection } from './connection.ts';

export const listReply = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);
export const number = (value: unknown): number => (Number.isFinite(Number(value)) ? Number(value) : 0);

/** From alternating names and values. */
export function fieldsReply(answer: unknown): Map<string, string> {
  const flat = listReply(answer);
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) fields.set(String(flat[at]), String(flat[at + 1]));
  return fields;
}

export const hashReply = async (store: StoreConnection, key: string): Promise<Map<string, string>> =>
  fieldsReply(await store.send('HGETALL', [key]));

export async function serverNow(store: StoreConnection): Promise<number> {
  const [seconds, micros] = listReply(await store.send('TIME', [])).map(Number);
  return (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
}
