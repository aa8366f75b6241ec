import { readFileSync } from 'node:fs';
import type * as z from 'zod/mini';
import { usage } from '../../../contract/failure.ts';
import { flawText } from '../../../contract/flaws.ts';

/** Reads one record a line by a schema of the contract; says file and line where one does not fit. */
export function readNdjson<T>(file: string, schema: z.ZodMiniType<T>): T[] {
  const lines = readText(file)
    .replace(/^\ufeff/, '')
    .split('\n');
  const records: T[] = [];
  lines.forEach((line, index) => {
    if (line.trim() === '') return;
    const where = `${file}:${index + 1}`;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw usage(`${where} is no JSON: ${reason}.`, 'Each line holds one whole JSON object.');
    }
    const parsed = schema.safeParse(value);
    if (!parsed.success) {
      throw usage(`${where} is no such record: ${flawText(parsed.error.issues, 'it')}.`, HINT);
    }
    records.push(parsed.data);
  });
  return records;
}

const HINT = "Records have the service's own fields; `trdr schema` prints them.";

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw usage(`${file} can't be read: ${reason}.`);
  }
}
