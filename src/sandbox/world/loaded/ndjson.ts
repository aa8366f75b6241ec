import { readFileSync } from 'node:fs';
import type * as z from 'zod/mini';
import { usageError } from '../../../base/failure.ts';
import { issuesText } from '../../../contract/issue-text.ts';

/**
 * Reads and validates one record per line. The error for an invalid line names the file and the line number.
 */
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
      throw usageError(`${where} is not valid JSON: ${reason}`, 'write one complete JSON object per line');
    }
    const parsed = schema.safeParse(value);
    if (!parsed.success) {
      throw usageError(
        `${where} is not a valid record: ${issuesText(parsed.error.issues, 'the line')}`,
        HINT,
      );
    }
    records.push(parsed.data);
  });
  return records;
}

const HINT = 'write records with the fields of the service; "trdr schema" lists them';

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw usageError(`cannot read ${file}: ${reason}`, 'check that it is a readable file');
  }
}
