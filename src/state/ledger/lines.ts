import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure, isAbsent } from '../../base/files.ts';
import { isNumber, type JsonObject, parseObject } from '../../base/json-object.ts';
import type { CallCost, LedgerEntry } from '../../contract/ports/ledger.ts';

export const ledgerFolder = (dir: string): string => join(dir, 'ledger');
export const dayFile = (dir: string, day: string): string =>
  join(ledgerFolder(dir), `${day}.ndjson`);

/** The files of a month, or all of them: one for each UTC day. */
export function ledgerFiles(dir: string, month = ''): string[] {
  const folder = ledgerFolder(dir);
  try {
    return readdirSync(folder)
      .filter((name) => /^\d{4}-\d{2}-\d{2}\.ndjson$/.test(name) && name.startsWith(month))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw fileFailure('read', folder, error);
  }
}

const costFields = [
  'status',
  'cu',
  'cuAtMost',
  'reveals',
  'revealsAtMost',
  'unpriced',
  'requestId',
  'calls',
];
/** The members of a line, in their order: others of an object never get into the file. */
const lineFields = [
  ...['id', 'time', 'command', 'profile', 'host', 'agent', 'endpoint'],
  ...['end', 'released', ...costFields],
];

/** An entry as a line. */
export const entryText = (entry: LedgerEntry, id?: string): string => lineOf({ id, ...entry });

/**
 * The end of a call; without its cost, the call was not sent or was free, and does not become an
 * entry.
 */
export const endText = (id: string, cost?: CallCost): string =>
  lineOf({ end: id, ...(cost ?? { released: true }) });

const lineOf = (members: object): string => `${JSON.stringify(members, lineFields)}\n`;

/** Reads the lines of ledger files in order, and pairs calls with their ends. */
export class CallReader {
  /**
   * The calls without an end, by their ids. They keep their maximum cost: each was in flight when
   * its process died, or still is.
   */
  readonly open = new Map<string, LedgerEntry>();

  /** Returns the entry that a line contains or ends. */
  read(line: string): LedgerEntry | undefined {
    const value = parseObject(line);
    if (!value) return undefined;
    const { id, end, released } = value;
    if (typeof end !== 'string') {
      const entry = entryOf(value);
      // Hourly sums have no id: their calls have ended.
      if (!entry || typeof id !== 'string') return entry;
      this.open.set(id, entry);
      return undefined;
    }
    const cost = costOf(value);
    const entry = this.open.get(end);
    if (released === true || cost) this.open.delete(end);
    if (!entry || !cost || released === true) return undefined;
    const { cuAtMost: _, unpriced: __, revealsAtMost: ___, ...call } = entry;
    return { ...call, ...cost };
  }
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

function costOf({ status, cu, cuAtMost, unpriced, requestId, ...value }: JsonObject) {
  const { reveals, revealsAtMost } = value;
  if (!isNumber(cu) || !(status === null || isNumber(status))) return undefined;
  return {
    status,
    cu,
    ...(isNumber(cuAtMost) && { cuAtMost }),
    ...(isNumber(reveals) && { reveals }),
    ...(isNumber(revealsAtMost) && { revealsAtMost }),
    ...(unpriced === true && { unpriced }),
    ...(typeof requestId === 'string' && { requestId }),
  };
}

/** The reveals of entries together; undefined if none of them states any. */
export function revealsOf(
  one: Pick<LedgerEntry, 'reveals'>,
  other: Pick<LedgerEntry, 'reveals'> | undefined,
): number | undefined {
  if (one.reveals === undefined && other?.reveals === undefined) return undefined;
  return (one.reveals ?? 0) + (other?.reveals ?? 0);
}
