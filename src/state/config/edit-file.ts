import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Conf from 'conf';
import { quietly } from '../../base/calls.ts';
import {
  discard,
  fileError,
  PRIVATE_FILE,
  realPath,
  statsOf,
  syncFolder,
} from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';

interface Shape<T> {
  readonly empty: T;
  /** Rejects any other text with an error. */
  readonly parse: (text: string) => T;
}

/**
 * Lets `edit` change a file that the caller has locked and read. The file is opened, and created,
 * by the first `open`.
 */
export function editFile<T extends Record<string, unknown>, R>(
  path: string,
  shape: Shape<T>,
  edit: (open: () => Conf<T>) => R,
): R {
  // conf would replace a symbolic link without a target by a file.
  const target = realPath(path);
  const before = statsOf(target) && readFileSync(target);
  try {
    const result = edit(() => {
      // conf renames its temporary file, which needs no permission to write the old one.
      if (before) accessSync(target, constants.W_OK);
      return openFile(target, shape);
    });
    checkWritten(target, shape, before);
    // conf syncs the file, but not its new name.
    syncFolder(dirname(target));
    return result;
  } finally {
    removeTemporaries(target);
  }
}

const openFile = <T extends Record<string, unknown>>(target: string, { empty, parse }: Shape<T>) =>
  new Conf<T>({
    cwd: dirname(target),
    configName: basename(target),
    fileExtension: '',
    configFileMode: PRIVATE_FILE,
    // The name of a profile may contain dots.
    accessPropertiesByDotNotation: false,
    defaults: empty,
    deserialize: parse,
    serialize: (file) => `${JSON.stringify(file, undefined, 2)}\n`,
  });

/** conf writes with a single call, which a nearly full disk cuts short without an error. */
function checkWritten<T>(target: string, { parse }: Shape<T>, before: Buffer | undefined): void {
  const after = statsOf(target) && readFileSync(target, 'utf8');
  if (after === undefined) return;
  try {
    parse(after);
  } catch {
    if (before) writeAtomic(target, before, { temporary: `${target}.tmp` });
    else discard(target);
    throw fileError('ENOSPC');
  }
}

/**
 * A writer that was killed leaves a file with the keys beside the config file, under the name that
 * atomically gave it.
 */
function removeTemporaries(target: string): void {
  const folder = dirname(target);
  const start = `${basename(target)}.tmp`;
  for (const name of quietly(() => readdirSync(folder)) ?? []) {
    if (name.startsWith(start) && /^(-[\da-f]{16})?$/.test(name.slice(start.length)))
      discard(join(folder, name));
  }
}
