import type { EndpointId } from '../../contract/endpoints.ts';
import { exponential, type Random, randomOf } from '../random.ts';
import { type FaultPlace, type FaultRule, parseFaults } from './grammar.ts';

/** A fault that an event has triggered. */
export interface TriggeredFault extends Pick<FaultRule, 'kind' | 'code' | 'status'> {
  /** The delay or duration in milliseconds (for a 429: the wait that it requires); 0 if the fault has no time. */
  readonly ms: number;
  readonly random: Random;
}

/** The first triggered fault of a kind. */
export const faultIn = (triggered: readonly TriggeredFault[], wanted: string) =>
  triggered.find(({ kind }) => kind === wanted);

/** How a fault or a test ends a connection or makes it silent. */
export type Disconnect = 'drop' | 'close' | 'halfopen';

export const isDisconnect = (kind: string): kind is Disconnect =>
  kind === 'drop' || kind === 'close' || kind === 'halfopen';

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

  /** Counts an event for a rule; returns whether the fault is triggered. */
  function isTriggered(rule: (typeof active)[number]): boolean {
    const { chance, count, skip, random } = rule;
    if (rule.triggered >= count || rule.seen++ < skip) return false;
    if (chance !== null && chance < 1 && random() >= chance) return false;
    rule.triggered++;
    return true;
  }

  return {
    /** Replaces the active faults; an empty text removes all. Throws a usage failure if the text is invalid. */
    set(spec: string): void {
      active = activate(spec);
    },
    /** How often each rule was triggered, by the text of the rule. */
    get triggered(): Readonly<Record<string, number>> {
      return Object.fromEntries(active.map((rule) => [rule.text, rule.triggered]));
    },
    trigger: (place: FaultPlace, target: EndpointId | 'ws'): TriggeredFault[] =>
      active
        .filter(
          (rule) => rule.place === place && rule.chance !== null && rule.at(target) && isTriggered(rule),
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
