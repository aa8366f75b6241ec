import { join } from 'node:path';
import { appendLines, ensureFolder } from '../base/files.ts';
import { readLines } from '../base/lines.ts';
import { sha256 } from '../base/sha256.ts';

/** Names that a shell and a table can show. Other names of a service are not noted. */
const PLAIN = /^[A-Za-z_$][\w$-]{0,63}$/;
/** A service that sends new names all the time must not fill the disk. */
const LARGEST = 64 * 1024;

const fileIn = (folder: string) => join(folder, 'fields');
/** A kind of record is identified by its listed fields; a version that lists others learns the rest again. */
const formOf = (listed: readonly string[]) => sha256(listed.join('\n')).slice(0, 12);

/** Notes the undocumented fields of a record that was printed, so that `--fields` can name them before a call is paid for. */
export function noteFields(folder: string, listed: readonly string[], names: readonly string[]): void {
  const seen = new Set(fieldsSeen(folder, listed));
  const fresh = names.filter((name) => PLAIN.test(name) && !seen.has(name));
  if (fresh.length === 0) return;
  ensureFolder(folder);
  const form = formOf(listed);
  const lines = fresh.map((name) => `${form} ${name}\n`).join('');
  if (sizeOf(folder) + lines.length <= LARGEST) appendLines(fileIn(folder), lines);
}

/** The undocumented fields that records with these listed fields were seen to have. */
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
