import { join } from 'node:path';
import { isRecord } from '../base/json-object.ts';
import { normalHandle } from '../contract/handles.ts';
import { remember, remembered } from './recent-lines.ts';

/** The handles that a shell accepts without quotes. */
const PLAIN = /^[A-Za-z0-9_.-]{1,64}$/;
const HANDLES_MAX = 5_000;

const fileIn = (folder: string) => join(folder, 'handles');

/** Saves the handle of a record for completion. */
export function noteHandle(folder: string, record: unknown): void {
  const handle = isRecord(record) ? record['handle'] : undefined;
  if (typeof handle === 'string' && PLAIN.test(handle))
    remember(fileIn(folder), [handle], HANDLES_MAX);
}

/** The saved handles that begin as this text does, latest first; in any case, with or without @. */
export function listHandles(folder: string, prefix: string, limit: number): string[] {
  const start = normalHandle(prefix);
  const handles = new Map<string, string>();
  for (const handle of remembered(fileIn(folder)).reverse()) {
    if (handles.size >= limit) break;
    const name = handle.toLowerCase();
    if (PLAIN.test(handle) && name.startsWith(start) && !handles.has(name))
      handles.set(name, handle);
  }
  return [...handles.values()];
}
