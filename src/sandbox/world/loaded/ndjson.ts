import { readFileSync } from 'node:fs';
import type * as z from 'zod/mini';
import { usageError } from '../../../base/failure.ts';
import { fileFailure } from '../../../base/files.ts';
import { issuesText } from '../../../contract/issue-text.ts';

/**
 * Reads and validates one record per line. The error for an invalid line names the file and the line number;
 * `hint` tells the user where valid records come from.
 */
export function readNdjson<T>(file: string, schema: z.ZodMiniType<T>, hint: string): T[] {
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
        hint,
      );
    }
    records.push(parsed.data);
  });
  return records;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usageError(fileFailure('read', file, cause).message, 'use the path of a readable NDJSON file');
  }
}
