import { isRecord } from '../../base/json-object.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import { below, exponential, pick, type Random, randomOf } from '../random.ts';
import { type FaultRule, parseFaults } from './grammar.ts';

export interface TriggeredFault extends Pick<FaultRule, 'kind' | 'code' | 'status'> {
  /** The delay or duration in milliseconds (for a 429: the wait that it requires); 0 if the fault has no time. */
  readonly ms: number;
  readonly random: Random;
}

export const faultIn = (triggered: readonly TriggeredFault[], wanted: string) =>
  triggered.find(({ kind }) => kind === wanted);

export type Disconnect = 'drop' | 'close' | 'halfopen';

/** The active faults. The same seed and the same events in the same order trigger the same faults. */
export function createFaults(text: string, seed: number) {
  const activate = (spec: string) =>
    parseFaults(spec).map((rule, at) => ({
      ...rule,
      random: randomOf(seed, `fault ${at} ${rule.text}`),
      seen: 0,
      triggered: 0,
    }));
  let active = activate(text);

  function isTriggered(rule: (typeof active)[number]): boolean {
    const { chance, count, skip, random } = rule;
    if (rule.triggered >= count || rule.seen++ < skip) return false;
    if (chance !== null && chance < 1 && random() >= chance) return false;
    rule.triggered++;
    return true;
  }

  return {
    set(spec: string): void {
      active = activate(spec);
    },
    get triggered(): Readonly<Record<string, number>> {
      return Object.fromEntries(active.map((rule) => [rule.text, rule.triggered]));
    },
    trigger: (place: FaultRule['place'], target: EndpointId | 'ws'): TriggeredFault[] =>
      active
        .filter(
          (rule) =>
            rule.place === place && rule.chance !== null && rule.at(target) && isTriggered(rule),
        )
        .map((rule) => {
          const { min, max } = rule.time ?? { min: 0, max: 0 };
          return { ...rule, ms: Math.round(min === max ? min : min + rule.random() * (max - min)) };
        }),
    /** Returns the faults to apply to a new WebSocket later, each after its `ms` milliseconds. */
    triggerTimed: (): TriggeredFault[] =>
      active.flatMap((rule) => {
        if (rule.chance !== null || !rule.time || !isTriggered(rule)) return [];
        const mean = (rule.time.min + rule.time.max) / 2;
        return { ...rule, ms: Math.round(exponential(rule.random, mean)) };
      }),
  };
}

/** The names of members that are never changed, because without them a response could not be parsed at all. */
const STRUCTURE = new Set([
  'data',
  'meta',
  'type',
  'items',
  'entries',
  'missing',
  'windows',
  'usage',
]);

type Place = readonly [holder: Record<string, unknown>, name: string];

function placesIn(value: unknown, fixed: ReadonlySet<string>): Place[] {
  if (Array.isArray(value)) return value.flatMap((item) => placesIn(item, fixed));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, inner]): Place[] => {
    const places = placesIn(inner, fixed);
    return fixed.has(name) ? places : [[value, name], ...places];
  });
}

const retyped = (value: unknown, random: Random): unknown =>
  pick<unknown>(random, [
    typeof value === 'string' ? value.length : JSON.stringify(value),
    typeof value === 'number' ? value + 0.5 : 7,
    true,
    [value],
    { value },
    [],
    {},
    '2026-05-15T12:00:00Z',
    '12345678901234567890',
  ]);

/** Changes `count` random members. @internal Exported for tests. */
export function driftValue(value: unknown, random: Random, count: number, fixed = STRUCTURE): void {
  for (let change = 0; change < count; change++) {
    const places = placesIn(value, fixed);
    if (places.length === 0) return;
    const [holder, name] = pick(random, places);
    const kind = below(random, 5);
    if (kind === 0) delete holder[name];
    else if (kind === 1) holder[name] = null;
    else if (kind === 2) holder[name] = retyped(holder[name], random);
    else if (kind === 3) holder[name] = { [name]: holder[name] };
    else holder[`${name}V2`] = retyped(holder[name], random);
  }
}

export function driftText(text: string, random: Random): string {
  const value: unknown = JSON.parse(text);
  driftValue(value, random, 1 + below(random, 4));
  return JSON.stringify(value);
}
