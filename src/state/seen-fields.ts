import { join } from 'node:path';
import { appendLines, ensureFolder } from '../base/files.ts';
import { readLines } from '../base/lines.ts';
import { sha256 } from '../base/sha256.ts';

/** Names that cannot break a line of the file, a table or a list of fields; others are not saved. */
const PLAIN = /^[A-Za-z_$][\w$-]{0,63}$/;
/** Maximum size of the file in bytes, so that a service that always sends new names cannot fill the disk. */
const LARGEST = 64 * 1024;

const fileIn = (folder: string) => join(folder, 'fields');
/**
 * Identifies a type of record by its documented fields. After an update of trdr that changes these fields,
 * the names that were saved for the type are no longer used.
 */
const formOf = (listed: readonly string[]) => sha256(listed.join('\n')).slice(0, 12);

/**
 * Saves the undocumented fields of a printed record. Later runs then accept these fields in `--fields`
 * without a paid call.
 */
export function noteFields(folder: string, listed: readonly string[], names: readonly string[]): void {
  const seen = new Set(fieldsSeen(folder, listed));
  const fresh = names.filter((name) => PLAIN.test(name) && !seen.has(name));
  if (fresh.length === 0) return;
  ensureFolder(folder);
  const form = formOf(listed);
  const lines = fresh.map((name) => `${form} ${name}\n`).join('');
  if (sizeOf(folder) + lines.length <= LARGEST) appendLines(fileIn(folder), lines);
}

/** The undocumented fields in records of a type that earlier runs printed. `listed` identifies the type. */
export function fieldsSeen(folder: string, listed: readonly string[]): string[] {
  const form = formOf(listed);
  const names = new Set<string>();
  for (const line of readLines(fileIn(folder))) {
    const [of, name = ''] = line.split(' ');
    if (of === form && PLAIN.test(name)) names.add(name);
  }
  return [...names];
}

function sizeOf(folder: string): number {
  let size = 0;
  for (const line of readLines(fileIn(folder))) size += line.length + 1;
  return size;
}
