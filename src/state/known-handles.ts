import { join } from 'node:path';
import { isRecord } from '../base/json-object.ts';
import { remember, remembered } from './remember.ts';

/** Handles that a shell accepts without quotes. */
const PLAIN = /^[A-Za-z0-9_.-]{1,64}$/;
const MOST = 5_000;

const fileIn = (folder: string) => join(folder, 'handles');

/** Saves the handle of a user record for completion, if a shell accepts it without quotes. */
export function noteHandle(folder: string, record: unknown): void {
  const handle = isRecord(record) ? record['handle'] : undefined;
  if (typeof handle === 'string' && PLAIN.test(handle)) remember(fileIn(folder), [handle], MOST);
}

/** The latest handles that begin with `prefix`, ignoring case and a leading @. */
export function listHandles(folder: string, prefix: string, limit: number): string[] {
  const start = prefix.replace(/^@/, '').toLowerCase();
  const found = new Map<string, string>();
  for (const handle of remembered(fileIn(folder)).reverse()) {
    if (found.size >= limit) break;
    const name = handle.toLowerCase();
    if (PLAIN.test(handle) && name.startsWith(start) && !found.has(name)) found.set(name, handle);
  }
  return [...found.values()];
}
