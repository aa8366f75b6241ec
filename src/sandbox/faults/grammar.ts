import { share } from '../../base/amounts.ts';
import { duration } from '../../base/durations.ts';
import { usageError } from '../../base/failure.ts';
import { type EndpointId, endpointIds, endpoints } from '../../contract/endpoints.ts';
import { type ErrorCode, errorCodes, isErrorCode } from '../../contract/errors.ts';
import { scopeOfGroup } from '../keys.ts';

/**
 * The event that a fault applies to: a REST call or WebSocket handshake, an outgoing frame, or a
 * new post.
 */
export type FaultPlace = 'call' | 'frame' | 'post';

interface Kind {
  readonly place: FaultPlace;
  /** Whether a fault of calls applies to frames with `@ws`. */
  readonly alsoFrames?: true;
  /**
   * Whether the fault has a time (by default, it has none), or the default of its time in
   * milliseconds.
   */
  readonly time?: 'must' | 'may' | number;
  readonly meaning: string;
}

/**
 * All faults except error responses, which are named by their status or code. @internal Exported
 * for tests.
 */
export const faultKinds: Readonly<Record<string, Kind>> = {
  delay: {
    place: 'call',
    alsoFrames: true,
    time: 'must',
    meaning: 'delays the response (with @ws: the frame) by the given time',
  },
  stall: { place: 'call', meaning: 'reads the request and never responds; not charged' },
  reset: {
    place: 'call',
    meaning: 'resets the connection before the request is processed; not charged',
  },
  lost: { place: 'call', meaning: 'charges the request, then resets the connection' },
  cut: { place: 'call', meaning: 'sends half of the body, then closes the connection; charged' },
  html: {
    place: 'call',
    alsoFrames: true,
    meaning: 'responds 200 with HTML; charged (with @ws: sends a frame that is not JSON)',
  },
  shape: {
    place: 'call',
    alsoFrames: true,
    meaning: 'responds with JSON of an undocumented shape; charged (with @ws: sends such a frame)',
  },
  drift: {
    place: 'call',
    alsoFrames: true,
    meaning: 'removes, nulls, retypes, nests or adds some fields; charged (with @ws: of the frame)',
  },
  drop: {
    place: 'frame',
    time: 'may',
    meaning: 'breaks the WebSocket in place of the frame; with a time: after that time on average',
  },
  close: { place: 'frame', time: 'may', meaning: 'like drop, but with a close frame (1001)' },
  halfopen: {
    place: 'frame',
    time: 'may',
    meaning: 'leaves the WebSocket open, but neither sends nor reads',
  },
  withhold: { place: 'frame', meaning: 'never sends the frame; pages contain the post' },
  dup: { place: 'frame', meaning: 'sends the frame twice' },
  reorder: {
    place: 'frame',
    time: 5_000,
    meaning: 'sends the frame after the next one, or after this time',
  },
  late: {
    place: 'post',
    time: 60_000,
    meaning: 'publishes the post and its frame late; in pages, the post is below newer ones',
  },
  lag: { place: 'post', time: 2_000, meaning: 'shows the post in pages some time after its frame' },
  sell: {
    place: 'post',
    time: 60_000,
    meaning: 'closes the position of the post after the given time; its PnL is then final',
  },
  vanish: { place: 'post', time: 30_000, meaning: 'deletes the post after the given time' },
};

type Target = EndpointId | 'ws';

export interface FaultRule {
  readonly text: string;
  /**
   * A name in the table of faults; or `code` for a documented error, `gateway` for the HTML page of
   * a gateway.
   */
  readonly kind: string;
  readonly code?: ErrorCode;
  /** The undocumented 5xx status of a gateway. */
  readonly status?: number;
  readonly place: FaultPlace;
  readonly at: (target: Target) => boolean;
  /**
   * The probability per event; null if the fault is triggered once per WebSocket, some time after
   * it opens.
   */
  readonly chance: number | null;
  readonly time: { readonly min: number; readonly max: number } | null;
  readonly count: number;
  /** The number of events that are skipped before the fault can be triggered. */
  readonly skip: number;
}

/** One fault as it was written: `name[@where][+skip][*count][=chance[:time]]`. */
interface FaultText {
  readonly text: string;
  readonly name: string;
  readonly where: string | undefined;
  readonly skip: number;
  readonly count: number;
  readonly chance: string | undefined;
  readonly times: readonly [from: string, to: string] | undefined;
}

/** Before the `=`, and after it. A time has a unit, so that it cannot be taken for a chance. */
const head =
  /^(?<name>\w+)(?:@(?<where>\w+(?:\.\w+)*(?:\.\*)?))?(?:\+(?<skip>\d+))?(?:\*(?<count>\d+))?$/;
const tail =
  /^(?:(?<chance>[\d.]+%?)(?::|$))?(?:(?<from>[\d.]+[a-z]+)(?:\.\.(?<to>[\d.]+[a-z]+))?)?$/;

/**
 * Such as `429=5%:3s,delay=200ms..2s,500@user.wallet*2`. Every event triggers a fault that has no
 * chance.
 */
export const parseFaults = (text: string): readonly FaultRule[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => ruleOf(readFault(part)));

/** Splits the text into its parts, and judges only its form. */
function readFault(text: string): FaultText {
  const [before = '', ...after] = text.split('=');
  const named = head.exec(before)?.groups;
  const amount = tail.exec(after.join('='))?.groups;
  if (!named || !amount) throw unknownFault(text);
  const { name = '', where, skip = '0', count } = named;
  const { chance, from, to = from } = amount;
  return {
    text,
    name,
    where,
    skip: Number(skip),
    count: count === undefined ? Number.POSITIVE_INFINITY : Number(count),
    chance,
    times: from === undefined || to === undefined ? undefined : [from, to],
  };
}

/** Judges whether the parts fit together, and the numbers are in range. */
function ruleOf(fault: FaultText): FaultRule {
  const { text, name, where, skip, count } = fault;
  const kind = Object.hasOwn(faultKinds, name) ? faultKinds[name] : undefined;
  const answer = kind ? { kind: name } : answerOf(name);
  if (!answer) throw unknownFault(text);
  const natural = kind?.place ?? 'call';
  const takes = kind ? kind.time : 'may';
  const place = where === 'ws' && kind?.alsoFrames ? 'frame' : natural;
  const at = targetsOf(where, place, kind !== undefined);
  const chance = fault.chance === undefined ? null : share.read(fault.chance);
  const time = timeOf(fault, takes);
  if (!at || chance === undefined || time === undefined) throw misplaced(text, name, kind);
  // With a time but no chance, these faults are triggered once per WebSocket, after that time on
  // average.
  const isTimed = natural === 'frame' && takes === 'may' && fault.times !== undefined;
  return { ...answer, text, place, at, chance: chance ?? (isTimed ? null : 1), time, count, skip };
}

/** Null without a time; undefined if the fault lacks a time, has none, or it cannot be read. */
function timeOf({ times }: FaultText, takes: Kind['time']): FaultRule['time'] | undefined {
  if (!times) {
    if (takes === 'must') return undefined;
    return typeof takes === 'number' ? { min: takes, max: takes } : null;
  }
  const [from, to] = times.map(duration.read);
  if (takes === undefined || from === undefined || to === undefined) return undefined;
  return { min: Math.min(from, to), max: Math.max(from, to) };
}

const invalid = (text: string, hint: string) =>
  usageError(`invalid fault "${text}"`, `write ${hint}`);

const unknownFault = (text: string) =>
  invalid(
    text,
    `name[@where][+skip][*count][=chance[:time]]; the name is a status (429, 500, 502), an error code (OVERLOADED), or one of: ${Object.keys(faultKinds).join(', ')}`,
  );

/** The hint shows the full form of this fault, because each kind takes other parts. */
function misplaced(text: string, name: string, kind: Kind | undefined) {
  const form = `${name}${targetForm(kind)}[+skip][*count]${amountForm(kind)}`;
  const examples = 'a chance is 5% or 0.05, a time 200ms, 2s or 200ms..2s';
  if (targetForm(kind) !== '[@where]') return invalid(text, `${form}; ${examples}`);
  const groups = Object.keys(scopeOfGroup).join(', ');
  const socket = kind && !kind.alsoFrames ? '' : ' or ws';
  const places = `an endpoint (user.wallet), a pattern (thesis.*), a group (${groups})${socket}`;
  return invalid(text, `${form}, where is ${places}; ${examples}`);
}

const targetForms = { call: '[@where]', frame: '[@ws]', post: '' } as const;
const targetForm = (kind: Kind | undefined): string => targetForms[kind?.place ?? 'call'];

function amountForm(kind: Kind | undefined): string {
  if (kind && kind.time === undefined) return '[=chance]';
  return kind?.time === 'must' ? '=[chance:]time' : '[=chance[:time]]';
}

function answerOf(name: string): Pick<FaultRule, 'kind' | 'code' | 'status'> | undefined {
  const status = /^[45]\d\d$/.test(name) ? Number(name) : 0;
  const codes = Object.keys(errorCodes).filter(isErrorCode);
  const code = codes.find(
    (candidate) => candidate === name.toUpperCase() || errorCodes[candidate].status === status,
  );
  if (code) return { kind: 'code', code };
  return status >= 500 ? { kind: 'gateway', status } : undefined;
}

/**
 * Whether a rule for `where` applies to a target; undefined if `where` is unknown, or wrong for
 * this fault.
 */
function targetsOf(
  where: string | undefined,
  place: FaultPlace,
  isNamed: boolean,
): FaultRule['at'] | undefined {
  const isSocket = (target: Target) => target === 'ws';
  if (place !== 'call')
    return where === undefined || (where === 'ws' && place === 'frame') ? isSocket : undefined;
  if (where === 'ws') return isNamed ? undefined : isSocket;
  if (where === undefined) return (target) => target !== 'ws';
  if (Object.hasOwn(scopeOfGroup, where))
    return (target) => target !== 'ws' && endpoints[target].group === where;
  const pattern = new RegExp(`^${where.replaceAll('.', '\\.').replace('*', '.*')}$`);
  return endpointIds.some((id) => pattern.test(id)) ? (target) => pattern.test(target) : undefined;
}
