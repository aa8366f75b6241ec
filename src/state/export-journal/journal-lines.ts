import { parseJson, stringifyJson } from '../../base/json.ts';
import type { JournalIdentity } from './same-export.ts';

/** One line of a journal. */
export type JournalLine =
  | {
      readonly kind: 'header';
      readonly version: number;
      readonly size: number;
      readonly startedAt: number;
      readonly identity: JournalIdentity;
    }
  | {
      readonly kind: 'asking';
      readonly batch: number;
      readonly positions: readonly number[];
      readonly unitsUsed: number | null;
    }
  | { readonly kind: 'row'; readonly position: number; readonly value: unknown }
  | {
      readonly kind: 'answered';
      readonly batch: number;
      readonly cu: number;
      readonly requestId: string | null;
    }
  | { readonly kind: 'dropped'; readonly batch: number }
  | {
      readonly kind: 'lost';
      readonly batch: number;
      readonly cuAtMost: number;
      /** A response that could not be parsed; the next run tries to parse it again. */
      readonly answer?: string | undefined;
    }
  /**
   * The handles that a run skipped, and why. trdr never uses this line; it informs people who open the
   * journal.
   */
  | { readonly kind: 'left'; readonly code: string; readonly handles: readonly string[] };

/** The version of the journal format that this program reads and writes. */
export const JOURNAL_VERSION = 1;

/** A line as text. */
export function writeLine(line: JournalLine): string {
  if (line.kind === 'row')
    return `{"kind":"row","position":${line.position},"value":${stringifyJson(line.value ?? null)}}\n`;
  if (line.kind !== 'asking') return `${JSON.stringify(line)}\n`;
  return `${JSON.stringify({ ...line, positions: rangesOf(line.positions) })}\n`;
}

/** Parses a line; undefined if it is incomplete or invalid. */
export function readJournalLine(text: string): JournalLine | undefined {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const given: Partial<Record<string, unknown>> = { ...value };
  const { kind, version, size, startedAt, position, batch, cu, cuAtMost } = given;
  switch (kind) {
    case 'header': {
      const identity = identityOf(given['identity']);
      if (!identity || !isNatural(version) || !isNatural(size) || !isNatural(startedAt)) return undefined;
      return { kind, version, size, startedAt, identity };
    }
    case 'asking': {
      const positions = positionsOf(given['positions']);
      if (!isNatural(batch) || !positions) return undefined;
      return { kind, batch, positions, unitsUsed: isAmount(given['unitsUsed']) ? given['unitsUsed'] : null };
    }
    case 'row':
      if (!isNatural(position) || !('value' in given)) return undefined;
      return { kind, position, value: given['value'] };
    case 'answered': {
      const requestId = typeof given['requestId'] === 'string' ? given['requestId'] : null;
      return isNatural(batch) && isAmount(cu) ? { kind, batch, cu, requestId } : undefined;
    }
    case 'dropped':
      return isNatural(batch) ? { kind, batch } : undefined;
    case 'lost': {
      if (!isNatural(batch) || !isAmount(cuAtMost)) return undefined;
      const { answer } = given;
      return { kind, batch, cuAtMost, ...(typeof answer === 'string' && { answer }) };
    }
    case 'left':
      // Accept the line without parsing its handles, which are not used.
      return typeof given['code'] === 'string' ? { kind, code: given['code'], handles: [] } : undefined;
    default:
      return undefined;
  }
}

const isNatural = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

function identityOf(value: unknown): JournalIdentity | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { inputs, format, flags }: Partial<Record<string, unknown>> = { ...value };
  if (typeof inputs !== 'string' || typeof format !== 'string') return undefined;
  if (typeof flags !== 'object' || flags === null) return undefined;
  const plain: Record<string, string | number | boolean | null> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const isPlain = typeof flag === 'string' || typeof flag === 'number' || typeof flag === 'boolean';
    if (!isPlain && flag !== null) return undefined;
    plain[name] = flag;
  }
  return { inputs, format, flags: plain };
}

/** Positions as ranges (first and last position), so that the line is short. */
function rangesOf(positions: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === position) last[1] = position;
    else ranges.push([position, position]);
  }
  return ranges;
}

/**
 * The maximum number of positions in a line. No batch is this large, so a line with more positions is
 * invalid.
 */
const MOST_POSITIONS = 10_000;

function positionsOf(ranges: unknown): number[] | undefined {
  if (!Array.isArray(ranges)) return undefined;
  const positions: number[] = [];
  for (const range of ranges) {
    if (!Array.isArray(range)) return undefined;
    const [first, last]: readonly unknown[] = range;
    if (!isNatural(first) || !isNatural(last) || last - first >= MOST_POSITIONS) return undefined;
    for (let position = first; position <= last; position++) positions.push(position);
    if (positions.length > MOST_POSITIONS) return undefined;
  }
  return positions;
}
