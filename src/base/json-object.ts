import { quietly } from './calls.ts';

/** A JSON object whose members are not validated. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object, and neither an array nor null. */
export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);

/** The value, if it is a text. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/**
 * Parses JSON with the built-in parser, which is fast but rounds long numbers; undefined if the
 * text is not JSON.
 */
export const plainJson = (text: string): unknown => quietly(() => JSON.parse(text));

/** Parses the JSON text of an object; undefined for all other texts. */
export function parseObject(text: string): JsonObject | undefined {
  const value = plainJson(text);
  return isRecord(value) ? value : undefined;
}
