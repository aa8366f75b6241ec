import { usageError } from '../../base/failure.ts';
import { duration } from '../../base/time-values.ts';
import { share } from '../../base/values.ts';
import { type EndpointId, endpointIds, endpoints } from '../../contract/endpoints.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import { scopeOfGroup } from '../keys.ts';
import { callOnly, type FaultPlace, faultKinds } from './kinds.ts';

type Target = EndpointId | 'ws';
type Time = { readonly min: number; readonly max: number } | null;

export interface FaultRule {
  readonly text: string;
  /** A name in the table of faults; or `code` for a documented error, `gateway` for the HTML page of a gateway. */
  readonly kind: string;
  readonly code?: ErrorCode;
  /** The undocumented 5xx status of a gateway. */
  readonly status?: number;
  readonly place: FaultPlace;
  readonly at: (target: Target) => boolean;
  /** The probability per event; null if the fault is triggered once per WebSocket, some time after it opens. */
  readonly chance: number | null;
  readonly time: Time;
  readonly count: number;
  /** The number of events that are skipped before the fault can be triggered. */
  readonly skip: number;
}

const FAULT_FORM = 'name[@where][+skip][*count][=chance[:time]]';
const form =
  /^(?<name>[A-Za-z0-9_]+)(?:@(?<where>\w+(?:\.\w+)*(?:\.\*)?))?(?:\+(?<skip>\d+))?(?:\*(?<count>\d+))?(?:=(?<value>.+))?$/;

/**
 * Parses faults, separated by commas: `429=5%:3s`, `delay=200ms..2s`, `500@user.wallet*2`, `drop=0.01`,
 * `late=2%:60s`. Without a chance, a fault is triggered by every event. With a time but no chance, `drop`, `close`
 * and `halfopen` are instead triggered once per WebSocket, after that time on average.
 */
export const parseFaults = (text: string): readonly FaultRule[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseRule);

function parseRule(text: string): FaultRule {
  const fail = (problem: string, hint: string) => usageError(`invalid fault "${text}"${problem}`, hint);
  const parts = form.exec(text)?.groups;
  if (!parts) throw fail('', `write ${FAULT_FORM}, for example 429=5%:3s or 500@user.wallet*2`);
  const { name = '', where, skip = '0', count = 'Infinity', value } = parts;
  const fault = Object.hasOwn(faultKinds, name) ? { kind: name } : answerOf(name, text);
  const { kind } = fault;
  const { place: natural, time: takes } = faultKinds[kind] ?? { place: 'call', time: 'may' };
  const place = natural === 'call' && where === 'ws' && kind in faultKinds ? 'frame' : natural;
  if (where !== undefined && place === 'post')
    throw fail(': a fault of posts applies to all posts', `remove @${where}`);
  if (where !== undefined && natural === 'frame' && where !== 'ws')
    throw fail(': a fault of frames applies only to ws', `remove @${where}`);
  if (place === 'frame' && callOnly.includes(kind))
    throw fail(`: ${kind} does not apply to frames`, 'remove @ws, or use drop to break the WebSocket');
  const { chance, time } = amountOf(value, fail);
  if (takes === 'must' && !time)
    throw fail(`: ${kind} requires a time`, `write it as ${kind}=200ms or ${kind}=5%:200ms`);
  if (takes === undefined && time)
    throw fail(
      `: ${kind} cannot have a time`,
      `remove the time; a probability is allowed, for example ${kind}=5%`,
    );
  const at = targetsOf(where, place);
  if (!at) {
    const names = ['ws', ...Object.keys(scopeOfGroup), ...endpointIds].join(', ');
    throw fail(`: unknown target ${where}`, `available targets: ${names}, and patterns such as thesis.*`);
  }
  const isTimed = natural === 'frame' && takes === 'may' && time !== null;
  return {
    ...fault,
    text,
    place,
    at,
    chance: chance ?? (isTimed ? null : 1),
    time: time ?? (typeof takes === 'number' ? { min: takes, max: takes } : null),
    count: Number(count),
    skip: Number(skip),
  };
}

/** The error response that is named by its status or code. */
function answerOf(name: string, text: string): Pick<FaultRule, 'kind' | 'code' | 'status'> {
  const status = /^[45]\d\d$/.test(name) ? Number(name) : 0;
  const codes = Object.keys(errorCodes).filter(isErrorCode);
  const code = codes.find((each) => each === name.toUpperCase() || errorCodes[each].status === status);
  if (code) return { kind: 'code', code };
  if (status >= 500) return { kind: 'gateway', status };
  throw usageError(
    `unknown fault "${name}" in "${text}"`,
    `use a status (429, 500, 502), an error code (OVERLOADED), or one of: ${Object.keys(faultKinds).join(', ')}`,
  );
}

/** Whether a rule for `where` applies to a target; undefined if `where` is unknown. */
function targetsOf(where: string | undefined, place: FaultPlace): FaultRule['at'] | undefined {
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
  let time: Time = null;
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

function timeOf(part: string): Time {
  const [from, to, ...rest] = part
    .split('..')
    .map((text) => (/[a-z]$/.test(text) ? duration.read(text) : undefined));
  if (from === undefined || rest.length > 0 || (part.includes('..') && to === undefined)) return null;
  return { min: Math.min(from, to ?? from), max: Math.max(from, to ?? from) };
}
