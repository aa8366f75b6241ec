import { usageError } from '../../base/failure.ts';
import { type EndpointId, endpointIds, endpoints } from '../../contract/endpoints.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import { type FaultKind, type FaultPlace, faultKinds, isFaultKind } from './kinds.ts';

/** A range of times in milliseconds. */
export interface TimeRange {
  readonly min: number;
  readonly max: number;
}

/** An error response: a documented error, or the HTML page of a gateway for an undocumented 5xx status. */
type FaultAnswer = { readonly code: ErrorCode } | { readonly gateway: number };

/** A parsed fault. */
export interface FaultRule {
  /** The text that was parsed. */
  readonly text: string;
  readonly fault: { readonly kind: FaultKind } | { readonly kind: 'answer'; readonly answer: FaultAnswer };
  readonly place: FaultPlace;
  /** Whether the rule applies to this endpoint, or to the WebSocket (`ws`). */
  readonly at: (target: EndpointId | 'ws') => boolean;
  /**
   * The probability per event; null if the fault is triggered once per WebSocket, some time after it opens.
   */
  readonly chance: number | null;
  readonly time: TimeRange | null;
  /** The maximum number of times that the fault is triggered. */
  readonly count: number;
  /** The number of events that are skipped before the fault can be triggered. */
  readonly skip: number;
}

/** The form of a fault, for people. @internal Exported for tests. */
export const FAULT_FORM = 'name[@where][+skip][*count][=chance[:time]]';

const AMOUNT_HINT = 'write a probability, a time or both, for example 429=5%, 429=3s or 429=5%:3s';

const form =
  /^(?<name>[A-Za-z0-9_]+)(?:@(?<at>\w+(?:\.\w+)*(?:\.\*)?))?(?:\+(?<skip>\d+))?(?:\*(?<count>\d+))?(?:=(?<value>.+))?$/;
const groups = new Set<string>(endpointIds.map((id) => endpoints[id].group));

/**
 * Parses faults, separated by commas. Each fault is written as `name[@where][+skip][*count][=chance[:time]]`:
 * `429=5%:3s`, `delay=200ms..2s`, `500@user.wallet*2`, `drop=0.01`, `late=2%:60s`. Without a chance, a fault
 * is triggered by every event. With a time but no chance, `drop`, `close` and `halfopen` are instead
 * triggered once per WebSocket, after that time on average.
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
  if (!parts) {
    throw usageError(
      `invalid fault "${text}"`,
      `write ${FAULT_FORM}, for example 429=5%:3s or 500@user.wallet*2`,
    );
  }
  const fault = faultOf(parts['name'] ?? '', text);
  const where = parts['at'];
  const natural = fault.kind === 'answer' ? 'call' : faultKinds[fault.kind].place;
  const place = natural === 'call' && where === 'ws' && fault.kind !== 'answer' ? 'frame' : natural;
  if (where !== undefined && place === 'post')
    throw usageError(`invalid fault "${text}": a fault of posts applies to all posts`, `remove @${where}`);
  if (where !== undefined && natural === 'frame' && where !== 'ws')
    throw usageError(`invalid fault "${text}": a fault of frames applies only to ws`, `remove @${where}`);
  if (place === 'frame' && framelessKinds.has(fault.kind)) {
    throw usageError(
      `invalid fault "${text}": ${fault.kind} does not apply to frames`,
      'remove @ws, or use drop to break the WebSocket',
    );
  }
  const { chance, time } = amountOf(parts['value'], text);
  const needs = fault.kind === 'answer' ? 'may' : faultKinds[fault.kind].time;
  if (needs === 'must' && !time)
    throw usageError(
      `invalid fault "${text}": ${fault.kind} requires a time`,
      `write it as ${fault.kind}=200ms or ${fault.kind}=5%:200ms`,
    );
  if (needs === 'no' && time)
    throw usageError(
      `invalid fault "${text}": ${fault.kind} cannot have a time`,
      `remove the time; a probability is allowed, for example ${fault.kind}=5%`,
    );
  const byTime =
    chance === null && (fault.kind === 'drop' || fault.kind === 'close' || fault.kind === 'halfopen') && time;
  return {
    text,
    fault,
    place,
    at: placeOf(where, place, text),
    chance: byTime ? null : (chance ?? 1),
    time,
    count: parts['count'] === undefined ? Number.POSITIVE_INFINITY : Number(parts['count']),
    skip: Number(parts['skip'] ?? 0),
  };
}

function faultOf(name: string, text: string): FaultRule['fault'] {
  if (isFaultKind(name)) return { kind: name };
  if (isErrorCode(name.toUpperCase())) {
    const code = name.toUpperCase();
    if (isErrorCode(code)) return { kind: 'answer', answer: { code } };
  }
  const status = /^[45]\d\d$/.test(name) ? Number(name) : 0;
  const code = byStatus.get(status);
  if (code) return { kind: 'answer', answer: { code } };
  if (status >= 500) return { kind: 'answer', answer: { gateway: status } };
  const names = Object.keys(faultKinds).join(', ');
  throw usageError(
    `unknown fault "${name}" in "${text}"`,
    `use a status (429, 500, 502), an error code (OVERLOADED), or one of: ${names}`,
  );
}

/** Faults that apply only to calls. The corresponding fault of the WebSocket is `drop`. */
const framelessKinds = new Set<string>(['stall', 'reset', 'lost', 'cut']);

/** The first error code in the table that has a given status. */
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
      `invalid fault "${text}": unknown target ${where}`,
      `available targets: ws, ${[...groups].join(', ')}, ${endpointIds.join(', ')}, and patterns such as thesis.*`,
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
    else if (asChance !== null || asTime !== null)
      throw usageError(
        `invalid fault "${text}": it can have one probability and one time, in this order`,
        AMOUNT_HINT,
      );
    else
      throw usageError(
        `invalid fault "${text}": ${part} is neither a probability (5%, 0.05) nor a time (200ms, 2s, 1m, 200ms..2s)`,
        AMOUNT_HINT,
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
  return { min: Math.min(from, to ?? from), max: Math.max(from, to ?? from) };
}
