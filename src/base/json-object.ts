import { quietly } from './calls.ts';
/** Its members are not validated. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Faster than `parseJson`, but rounds long numbers; undefined if the text is not JSON. */
export const plainJson = (text: string): unknown => quietly(() => JSON.parse(text));

export function parseObject(text: string): JsonObject | undefined {
  const value = plainJson(text);
  return isRecord(value) ? value : undefined;
}
