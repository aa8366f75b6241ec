import { type JsonObject, parseObject } from '../../base/json-object.ts';
import type { LedgerEntry } from '../../contract/ports.ts';

/**
 * A line of a ledger file. A call is written as an `open` line with its maximum cost before it is sent, and
 * its `end` line replaces that cost. A call without an `end` line was in flight when its process died, or
 * still is. An `entry` line contains calls that have ended: compactions and older versions of trdr write such lines.
 */
export type LedgerLine =
  | { readonly kind: 'entry'; readonly entry: LedgerEntry }
  | { readonly kind: 'open'; readonly id: string; readonly entry: LedgerEntry }
  | { readonly kind: 'end'; readonly id: string; readonly end: CallEnd };

/** The outcome of a call. */
export interface CallEnd {
  /** True if the call was not sent or was free. Such a call does not become an entry. */
  readonly released: boolean;
  readonly status: number | null;
  readonly cu: number;
  readonly cuAtMost?: number | undefined;
  readonly unpriced?: boolean | undefined;
  readonly requestId?: string | undefined;
}

/**
 * The text of an entry. Only the named fields are written, so that other members of the object never get into
 * the file.
 */
export function entryText(entry: LedgerEntry, id?: string): string {
  const { time, command, profile, host, agent, endpoint, status, cu, cuAtMost, unpriced, requestId, calls } =
    entry;
  return `${JSON.stringify({ id, time, command, profile, host, agent, endpoint, status, cu, cuAtMost, unpriced, requestId, calls })}\n`;
}

/** The text of an `end` line. */
export function endText(
  id: string,
  { released, status, cu, cuAtMost, unpriced, requestId }: CallEnd,
): string {
  return released
    ? `${JSON.stringify({ end: id, released })}\n`
    : `${JSON.stringify({ end: id, status, cu, cuAtMost, unpriced, requestId })}\n`;
}

/** Parses a line; undefined if it is incomplete or not a line of the ledger. */
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

/** The entry of an ended call; undefined if the call was not charged. */
export function ended(
  { time, command, profile, host, agent, endpoint }: LedgerEntry,
  { released, ...cost }: CallEnd,
): LedgerEntry | undefined {
  if (released) return undefined;
  return {
    time,
    command,
    profile,
    ...(host !== undefined && { host }),
    ...(agent !== undefined && { agent }),
    endpoint,
    ...cost,
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
