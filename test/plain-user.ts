import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const NOBODY = 65_534;

/** Runs as a user whom the permissions of files bind, which root is not. The folder is then this user's. */
export async function asPlainUser(folder: string, act: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return act();
  for (const name of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, name), NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    await act();
  } finally {
    process.seteuid?.(0);
  }
}
