import { usageError } from './failure.ts';
import { statsOf } from './files.ts';

/** Throws a usage error unless the path is an existing folder. */
export function checkFolder(path: string): void {
  const found = statsOf(path);
  if (found === undefined)
    throw usageError(`folder not found: ${path}`, `create it first: mkdir -p '${path}'`);
  if (!found.isDirectory()) throw usageError(`${path} is not a folder`, 'use a path in an existing folder');
}
