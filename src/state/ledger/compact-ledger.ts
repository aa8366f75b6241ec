import { closeSync, statSync } from 'node:fs';
import { openRegular, readAt } from '../../base/files.ts';
import type { LedgerEntry } from '../../contract/ports.ts';
import { rewriteFile } from '../rewrite.ts';
import { createCallReader, entryText, monthFile, monthOf } from './lines.ts';

/** Files smaller than this are not compacted. */
const LEAST_BYTES = 1024 * 1024;
/** How long each call keeps a line of its own. Older calls may be combined: see `compact`. */
const DETAILED_MS = 2 * 86_400_000;
const HOUR = 3_600_000;

/**
 * Compacts each of the files of this month and last month that has doubled in size since its last compaction.
 */
export function compactLedger(dir: string, now: number): void {
  const thisMonth = monthOf(now);
  const lastMonth = monthOf(Date.parse(`${thisMonth}-01`) - 1);
  for (const path of [monthFile(dir, thisMonth), monthFile(dir, lastMonth)]) {
    const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (size > LEAST_BYTES && size > 2 * sizeOnce(path)) compact(path, now);
  }
}

/** The size of a file after its last compaction, as recorded in its first line; 0 if it was never compacted. */
function sizeOnce(path: string): number {
  const fd = openRegular(path);
  try {
    return Number(/^\{"compacted":(\d{1,15})\}\n/.exec(readAt(fd, 0, 64).toString('latin1'))?.[1] ?? 0);
  } finally {
    closeSync(fd);
  }
}

/**
 * Rewrites a file with one line per call. Calls that are older than two days are combined into one line per hour if
 * they have the same command, profile, machine, agent, endpoint and status, and their cost is known exactly. Calls in flight
 * keep their ids, by which readers recognize lines that were written twice.
 */
const compact = (path: string, now: number): void =>
  rewriteFile(path, now, (bytes) => {
    const end = bytes.lastIndexOf(10) + 1;
    const kept = Buffer.from(compacted(bytes.toString('utf8', 0, end), now));
    return { parts: [Buffer.from(`{"compacted":${kept.length}}\n`), kept], end };
  });

/** Returns the compacted text of a file. Ended calls are in the order of their `end` lines; open calls come last. */
function compacted(text: string, now: number): string {
  const calls = createCallReader();
  const entries = new Map<string, LedgerEntry>();
  for (const line of text.split('\n')) {
    const entry = calls.read(line);
    if (entry) add(entries, entry, now);
  }
  return [
    ...[...entries.values()].map((entry) => entryText(entry)),
    ...[...calls.open].map(([id, entry]) => entryText(entry, id)),
  ].join('');
}

function add(entries: Map<string, LedgerEntry>, entry: LedgerEntry, now: number): void {
  const { time, cu, cuAtMost, unpriced, calls = 1, requestId: _, ...rest } = entry;
  if (cuAtMost || unpriced || now - time < DETAILED_MS) {
    entries.set(`${entries.size}`, entry);
    return;
  }
  const hour = { ...rest, time: Math.floor(time / HOUR) * HOUR };
  const { command, profile, host, agent, endpoint, status } = rest;
  const name = JSON.stringify([hour.time, command, profile, host, agent, endpoint, status]);
  const sum = entries.get(name);
  entries.set(name, { ...hour, cu: cu + (sum?.cu ?? 0), calls: calls + (sum?.calls ?? 0) });
}
