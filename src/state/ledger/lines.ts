import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure, isAbsent } from '../../base/files.ts';
import { type JsonObject, parseObject } from '../../base/json-object.ts';
import type { LedgerEntry } from '../../contract/ports.ts';

export const ledgerFolder = (dir: string): string => join(dir, 'ledger');
export const dayFile = (dir: string, day: string): string => join(ledgerFolder(dir), `${day}.ndjson`);

/** The files of a month, or all of them; one for each UTC day. Earlier versions of trdr wrote one file for each month. */
export function ledgerFiles(dir: string, month = ''): string[] {
  const folder = ledgerFolder(dir);
  try {
    return readdirSync(folder)
      .filter((name) => /^\d{4}-\d{2}(-\d{2})?\.ndjson$/.test(name) && name.startsWith(month))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw fileFailure('read', folder, error);
  }
}

/**
 * A line of a ledger file. A call is written as an `open` line with its maximum cost before it is sent, and
 * its `end` line replaces that cost. A call without an `end` line was in flight when its process died, or
 * still is. An `entry` line contains calls that have ended: compactions and older versions of trdr write such lines.
 */
type LedgerLine =
  | { readonly kind: 'entry'; readonly entry: LedgerEntry }
  | { readonly kind: 'open'; readonly id: string; readonly entry: LedgerEntry }
  | { readonly kind: 'end'; readonly id: string; readonly end: CallEnd };

interface CallEnd {
  /** The call was not sent or was free, and does not become an entry. */
  readonly released: boolean;
  readonly status: number | null;
  readonly cu: number;
  readonly cuAtMost?: number | undefined;
  readonly unpriced?: boolean | undefined;
  readonly requestId?: string | undefined;
}

/** Only the named fields are written, so that other members of the object never get into the file. */
export function entryText(entry: LedgerEntry, id?: string): string {
  const { time, command, profile, host, agent, endpoint, status, cu, cuAtMost, unpriced, requestId, calls } =
    entry;
  return `${JSON.stringify({ id, time, command, profile, host, agent, endpoint, status, cu, cuAtMost, unpriced, requestId, calls })}\n`;
}

export function endText(
  id: string,
  { released, status, cu, cuAtMost, unpriced, requestId }: CallEnd,
): string {
  return released
    ? `${JSON.stringify({ end: id, released })}\n`
    : `${JSON.stringify({ end: id, status, cu, cuAtMost, unpriced, requestId })}\n`;
}

/**
 * Parses a line; undefined if it is incomplete or not a line of the ledger.
 * @internal Exported for tests.
 */
export function readLedgerLine(line: string): LedgerLine | undefined {
  const value = parseObject(line);
  if (!value) return undefined;
  const { id, end } = value;
  if (typeof end === 'string') {
    const cost = costOf(value);
    if (value['released'] === true)
      return { kind: 'end', id: end, end: { released: true, status: null, cu: 0 } };
    return cost && { kind: 'end', id: end, end: { released: false, ...cost } };
  }
  const entry = entryOf(value);
  if (!entry) return undefined;
  return typeof id === 'string' ? { kind: 'open', id, entry } : { kind: 'entry', entry };
}

/** Reads the lines of a file in their order, and pairs each call with its end. */
export function createCallReader() {
  const open = new Map<string, LedgerEntry>();
  return {
    open: open as ReadonlyMap<string, LedgerEntry>,
    /** Returns the entry that a line contains or ends. */
    read(text: string): LedgerEntry | undefined {
      const line = readLedgerLine(text);
      if (!line || line.kind === 'entry') return line?.entry;
      if (line.kind === 'open') {
        open.set(line.id, line.entry);
        return undefined;
      }
      const entry = open.get(line.id);
      open.delete(line.id);
      const { released, ...cost } = line.end;
      if (!entry || released) return undefined;
      const { cuAtMost: _, unpriced: __, ...call } = entry;
      return { ...call, ...cost };
    },
  };
}

function entryOf(value: JsonObject): LedgerEntry | undefined {
  const { time, command, profile, host, agent, endpoint, calls } = value;
  const cost = costOf(value);
  if (!isNumber(time) || !cost) return undefined;
  if (typeof command !== 'string' || typeof profile !== 'string' || typeof endpoint !== 'string')
    return undefined;
  return {
    time,
    command,
    profile,
    ...(typeof host === 'string' && { host }),
    ...(typeof agent === 'string' && { agent }),
    endpoint,
    ...cost,
    ...(isNumber(calls) && { calls }),
  };
}

function costOf({ status, cu, cuAtMost, unpriced, requestId }: JsonObject) {
  if (!isNumber(cu) || !(status === null || isNumber(status))) return undefined;
  return {
    status,
    cu,
    ...(isNumber(cuAtMost) && { cuAtMost }),
    ...(unpriced === true && { unpriced }),
    ...(typeof requestId === 'string' && { requestId }),
  };
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
