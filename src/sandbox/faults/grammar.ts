import { usageError } from '../../base/failure.ts';
import { duration } from '../../base/time-values.ts';
import { share } from '../../base/values.ts';
import { type EndpointId, endpointIds, endpoints } from '../../contract/endpoints.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import { scopeOfGroup } from '../keys/plans.ts';
import { type FaultKind, type FaultPlace, faultKinds, isDisconnect, isFaultKind } from './kinds.ts';

export interface FaultRule {
  readonly text: string;
  /** `code` sends a documented error, `gateway` the HTML page of a gateway for an undocumented 5xx status. */
  readonly fault:
    | { readonly kind: FaultKind }
    | { readonly kind: 'code'; readonly code: ErrorCode }
    | { readonly kind: 'gateway'; readonly status: number };
  readonly place: FaultPlace;
  /** Whether the rule applies to this endpoint, or to the WebSocket (`ws`). */
  readonly at: (target: EndpointId | 'ws') => boolean;
  /**
   * The probability per event; null if the fault is triggered once per WebSocket, some time after it opens.
   */
  readonly chance: number | null;
  /** A range of times in milliseconds. */
  readonly time: { readonly min: number; readonly max: number } | null;
  readonly count: number;
  /** The number of events that are skipped before the fault can be triggered. */
  readonly skip: number;
}

/** The form of a fault, for people. @internal Exported for tests. */
export const FAULT_FORM = 'name[@where][+skip][*count][=chance[:time]]';

const form =
  /^(?<name>[A-Za-z0-9_]+)(?:@(?<where>\w+(?:\.\w+)*(?:\.\*)?))?(?:\+(?<skip>\d+))?(?:\*(?<count>\d+))?(?:=(?<value>.+))?$/;

/**
 * Parses faults, separated by commas. Each fault is written as `name[@where][+skip][*count][=chance[:time]]`:
 * `429=5%:3s`, `delay=200ms..2s`, `500@user.wallet*2`, `drop=0.01`, `late=2%:60s`. Without a chance, a fault
 * is triggered by every event. With a time but no chance, `drop`, `close` and `halfopen` are instead
 * triggered once per WebSocket, after that time on average.
 */
export function parseFaults(text: string): readonly FaultRule[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map(parseRule);
}

function parseRule(text: string): FaultRule {
  const fail = (problem: string, hint: string) => usageError(`invalid fault "${text}"${problem}`, hint);
  const parts = form.exec(text)?.groups;
  if (!parts) throw fail('', `write ${FAULT_FORM}, for example 429=5%:3s or 500@user.wallet*2`);
  const { name = '', where, skip, count, value } = parts;
  const fault = faultOf(name, text);
  const { kind } = fault;
  const { place: natural, time: takes } = isFaultKind(kind) ? faultKinds[kind] : answerKind;
  const place = natural === 'call' && where === 'ws' && isFaultKind(kind) ? 'frame' : natural;
  if (where !== undefined && place === 'post')
    throw fail(': a fault of posts applies to all posts', `remove @${where}`);
  if (where !== undefined && natural === 'frame' && where !== 'ws')
    throw fail(': a fault of frames applies only to ws', `remove @${where}`);
  if (place === 'frame' && framelessKinds.has(kind))
    throw fail(`: ${kind} does not apply to frames`, 'remove @ws, or use drop to break the WebSocket');
  const { chance, time } = amountOf(value, fail);
  if (takes === 'must' && !time)
    throw fail(`: ${kind} requires a time`, `write it as ${kind}=200ms or ${kind}=5%:200ms`);
  if (takes === 'no' && time)
    throw fail(
      `: ${kind} cannot have a time`,
      `remove the time; a probability is allowed, for example ${kind}=5%`,
    );
  const at = placeOf(where, place);
  if (!at) {
    const names = ['ws', ...Object.keys(scopeOfGroup), ...endpointIds].join(', ');
    throw fail(`: unknown target ${where}`, `available targets: ${names}, and patterns such as thesis.*`);
  }
  return {
    text,
    fault,
    place,
    at,
    chance: chance ?? (isDisconnect(kind) && time ? null : 1),
    time: time ?? (typeof takes === 'number' ? { min: takes, max: takes } : null),
    count: count === undefined ? Number.POSITIVE_INFINITY : Number(count),
    skip: Number(skip ?? 0),
  };
}

function faultOf(name: string, text: string): FaultRule['fault'] {
  if (isFaultKind(name)) return { kind: name };
  const upper = name.toUpperCase();
  if (isErrorCode(upper)) return { kind: 'code', code: upper };
  const status = /^[45]\d\d$/.test(name) ? Number(name) : 0;
  const code = Object.keys(errorCodes)
    .filter(isErrorCode)
    .find((each) => errorCodes[each].status === status);
  if (code) return { kind: 'code', code };
  if (status >= 500) return { kind: 'gateway', status };
  const names = Object.keys(faultKinds).join(', ');
  throw usageError(
    `unknown fault "${name}" in "${text}"`,
    `use a status (429, 500, 502), an error code (OVERLOADED), or one of: ${names}`,
  );
}

/** What applies to error responses, which the table does not list. */
const answerKind = { place: 'call', time: 'may' } as const;

/** Faults that apply only to calls. The corresponding fault of the WebSocket is `drop`. */
const framelessKinds = new Set<string>(['stall', 'reset', 'lost', 'cut']);

/** Whether a rule for `where` applies to a target; undefined if `where` is unknown. */
function placeOf(where: string | undefined, place: FaultPlace): FaultRule['at'] | undefined {
  if (where === 'ws' || (where === undefined && place !== 'call')) return (target) => target === 'ws';
  if (where === undefined) return (target) => target !== 'ws';
  if (Object.hasOwn(scopeOfGroup, where))
    return (target) => target !== 'ws' && endpoints[target].group === where;
  const pattern = new RegExp(`^${where.replaceAll('.', '\\.').replace('*', '.*')}$`);
  return endpointIds.some((id) => pattern.test(id)) ? (target) => pattern.test(target) : undefined;
}

function amountOf(value: string | undefined, fail: (problem: string, hint: string) => Error) {
  const hint = 'write a probability, a time or both, for example 429=5%, 429=3s or 429=5%:3s';
  let chance: number | null = null;
  let time: FaultRule['time'] = null;
  for (const part of value === undefined ? [] : value.split(':')) {
    const asChance = share.read(part);
    const asTime = timeOf(part);
    if (asChance === undefined && !asTime)
      throw fail(`: ${part} is neither a probability (5%, 0.05) nor a time (200ms, 2s, 1m, 200ms..2s)`, hint);
    if (time || (asChance !== undefined && chance !== null))
      throw fail(': it can have one probability and one time, in this order', hint);
    if (asTime) time = asTime;
    else chance = asChance ?? null;
  }
  return { chance, time };
}

function timeOf(part: string): FaultRule['time'] {
  const [from, to, ...rest] = part
    .split('..')
    .map((text) => (/[a-z]$/.test(text) ? duration.read(text) : undefined));
  if (from === undefined || rest.length > 0 || (part.includes('..') && to === undefined)) return null;
  return { min: Math.min(from, to ?? from), max: Math.max(from, to ?? from) };
}
