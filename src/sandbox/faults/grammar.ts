import { usageError } from '../../base/failure.ts';
import { type EndpointId, endpointIds, endpoints } from '../../contract/endpoints.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import { type FaultKind, type FaultPlace, faultKinds, isFaultKind } from './kinds.ts';

/** Milliseconds from `least` to `most`. */
export interface TimeRange {
  readonly least: number;
  readonly most: number;
}

/** An error answer, or a 5xx that the service does not document (a gateway's HTML page). */
type FaultAnswer = { readonly code: ErrorCode } | { readonly gateway: number };

/** One fault that may strike. */
export interface FaultRule {
  /** As it was written. */
  readonly text: string;
  readonly what: { readonly kind: FaultKind } | { readonly kind: 'answer'; readonly answer: FaultAnswer };
  readonly place: FaultPlace;
  /** Whether the rule is for this endpoint, or for the socket (`ws`). */
  readonly at: (target: EndpointId | 'ws') => boolean;
  /** Null where the rule strikes by time instead. */
  readonly chance: number | null;
  readonly time: TimeRange | null;
  /** Strikes at most so often. */
  readonly count: number;
  /** Lets so many go by first. */
  readonly skip: number;
}

const form =
  /^(?<name>[A-Za-z0-9_]+)(?:@(?<at>\w+(?:\.\w+)*(?:\.\*)?))?(?:\+(?<skip>\d+))?(?:\*(?<count>\d+))?(?:=(?<value>.+))?$/;
const groups = new Set<string>(endpointIds.map((id) => endpoints[id].group));

/**
 * Reads `name[@where][+skip][*count][=chance[:time]]`, separated by commas: `429=5%:3s`, `delay=200ms..2s`,
 * `500@user.wallet*2`, `drop=0.01`, `late=2%:60s`. Without a chance a fault always strikes.
 */
export function parseFaults(text: string): readonly FaultRule[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseRule);
}

function parseRule(text: string): FaultRule {
  const parts = form.exec(text)?.groups;
  if (!parts) throw usageError(`Fault ${text} can't be read.`, faultHelp());
  const what = whatOf(parts['name'] ?? '', text);
  const where = parts['at'];
  const natural = what.kind === 'answer' ? 'call' : faultKinds[what.kind].place;
  const place = natural === 'call' && where === 'ws' && what.kind !== 'answer' ? 'frame' : natural;
  if (where !== undefined && place === 'post') throw usageError(`Fault ${text}: posts have no @place.`);
  if (where !== undefined && natural === 'frame' && where !== 'ws')
    throw usageError(`Fault ${text}: only @ws has frames.`);
  if (place === 'frame' && framelessKinds.has(what.kind)) {
    throw usageError(`Fault ${text}: frames know no such fault.`, faultHelp());
  }
  const { chance, time } = amountOf(parts['value'], text);
  const needs = what.kind === 'answer' ? 'may' : faultKinds[what.kind].time;
  if (needs === 'must' && !time) throw usageError(`Fault ${text} needs a time, as in ${what.kind}=200ms.`);
  if (needs === 'no' && time) throw usageError(`Fault ${text} takes no time.`);
  const byTime =
    chance === null && (what.kind === 'drop' || what.kind === 'close' || what.kind === 'halfopen') && time;
  return {
    text,
    what,
    place,
    at: placeOf(where, place, text),
    chance: byTime ? null : (chance ?? 1),
    time,
    count: parts['count'] === undefined ? Number.POSITIVE_INFINITY : Number(parts['count']),
    skip: Number(parts['skip'] ?? 0),
  };
}

function whatOf(name: string, text: string): FaultRule['what'] {
  if (isFaultKind(name)) return { kind: name };
  if (isErrorCode(name.toUpperCase())) {
    const code = name.toUpperCase();
    if (isErrorCode(code)) return { kind: 'answer', answer: { code } };
  }
  const status = /^[45]\d\d$/.test(name) ? Number(name) : 0;
  const code = byStatus.get(status);
  if (code) return { kind: 'answer', answer: { code } };
  if (status >= 500) return { kind: 'answer', answer: { gateway: status } };
  throw usageError(`No fault is called ${name} (in ${text}).`, faultHelp());
}

/** Faults of calls that frames can't have; a socket that breaks is `drop`. */
const framelessKinds = new Set<string>(['stall', 'reset', 'lost', 'cut']);

/** A status stands for the first of its codes that is worth asking again after, else for its first. */
const byStatus = new Map<number, ErrorCode>();
for (const code of Object.keys(errorCodes).filter(isErrorCode)) {
  const { status } = errorCodes[code];
  if (!byStatus.has(status)) byStatus.set(status, code);
}

function placeOf(where: string | undefined, place: FaultPlace, text: string): FaultRule['at'] {
  if (where === undefined)
    return place === 'call' ? (target) => target !== 'ws' : (target) => target === 'ws';
  if (where === 'ws') return (target) => target === 'ws';
  if (groups.has(where)) return (target) => target !== 'ws' && endpoints[target].group === where;
  const pattern = new RegExp(`^${where.replaceAll('.', '\\.').replace('*', '.*')}$`);
  if (!endpointIds.some((id) => pattern.test(id))) {
    throw usageError(
      `Fault ${text}: no endpoint is called ${where}.`,
      `Places: ws, ${[...groups].join(', ')}, ${endpointIds.join(', ')}; thesis.* is all that begin so.`,
    );
  }
  return (target) => pattern.test(target);
}

function amountOf(
  value: string | undefined,
  text: string,
): { chance: number | null; time: TimeRange | null } {
  let chance: number | null = null;
  let time: TimeRange | null = null;
  for (const part of value === undefined ? [] : value.split(':')) {
    const asChance = chanceOf(part);
    const asTime = timeOf(part);
    if (asChance !== null && chance === null && time === null) chance = asChance;
    else if (asTime !== null && time === null) time = asTime;
    else
      throw usageError(
        `Fault ${text}: ${part} is no chance (5% or 0.05) and no time (200ms, 2s, 1m, 200ms..2s).`,
      );
  }
  return { chance, time };
}

function chanceOf(part: string): number | null {
  const [, number, percent] = /^(\d*\.?\d+)(%?)$/.exec(part) ?? [];
  if (number === undefined) return null;
  const chance = Number(number) / (percent ? 100 : 1);
  return chance <= 1 ? chance : null;
}

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function timeOf(part: string): TimeRange | null {
  const [from, to, ...rest] = part.split('..').map((text) => {
    const [, number, unit] = /^(\d*\.?\d+)(ms|s|m|h)$/.exec(text) ?? [];
    return unit === 'ms' || unit === 's' || unit === 'm' || unit === 'h'
      ? Number(number) * units[unit]
      : null;
  });
  if (from === null || from === undefined || to === null || rest.length > 0) return null;
  return { least: Math.min(from, to ?? from), most: Math.max(from, to ?? from) };
}

/** The faults that there are, in one line each. */
export function faultHelp(): string {
  const lines = Object.entries(faultKinds).map(([name, { meaning }]) => `${name}: ${meaning}`);
  return [
    'name[@where][+skip][*count][=chance[:time]], separated by commas, such as 429=5%:3s or 500@user.wallet*2.',
    'A status (429, 500, 502) or a code (OVERLOADED): that answer instead of the work.',
    ...lines,
  ].join('\n');
}
