import type { EndpointId } from '../../contract/endpoints.ts';
import { exponential, type Random, randomOf } from '../random.ts';
import { type FaultRule, parseFaults } from './grammar.ts';
import type { FaultPlace } from './kinds.ts';

/** A fault that an event has triggered, with the delay or duration of the fault. */
export interface TriggeredFault {
  readonly fault: FaultRule['fault'];
  /** The delay or duration in milliseconds (for a 429: the wait that it requires); 0 if the fault has no time. */
  readonly ms: number;
  readonly random: Random;
}

export type Faults = ReturnType<typeof createFaults>;

/** The active faults. The same seed and the same events in the same order trigger the same faults. */
export function createFaults(text: string, seed: number) {
  const activate = (spec: string) =>
    parseFaults(spec).map((rule, at) => ({
      rule,
      random: randomOf(seed, `fault ${at} ${rule.text}`),
      seen: 0,
      triggered: 0,
    }));
  let active = activate(text);

  /** Counts an event for a rule; returns whether the fault is triggered. */
  function isTriggered(one: (typeof active)[number]): boolean {
    if (one.triggered >= one.rule.count || one.seen++ < one.rule.skip) return false;
    const { chance } = one.rule;
    if (chance !== null && chance < 1 && one.random() >= chance) return false;
    one.triggered++;
    return true;
  }

  return {
    /** Replaces the active faults; an empty text removes all. Throws a usage failure if the text is invalid. */
    set(spec: string): void {
      active = activate(spec);
    },
    /** How often each rule was triggered, by the text of the rule. */
    get triggered(): Readonly<Record<string, number>> {
      return Object.fromEntries(active.map(({ rule, triggered }) => [rule.text, triggered]));
    },
    trigger(place: FaultPlace, target: EndpointId | 'ws'): TriggeredFault[] {
      return active.flatMap((one) => {
        const { rule, random } = one;
        if (rule.place !== place || rule.chance === null || !rule.at(target) || !isTriggered(one)) return [];
        const { min, max } = rule.time ?? { min: 0, max: 0 };
        const ms = min === max ? min : min + random() * (max - min);
        return { fault: rule.fault, ms: Math.round(ms), random };
      });
    },
    /** Returns the faults to apply to a new WebSocket later, each after its `ms` milliseconds. */
    triggerTimed(): TriggeredFault[] {
      return active.flatMap((one) => {
        const { rule, random } = one;
        if (rule.chance !== null || !rule.time || !isTriggered(one)) return [];
        const mean = (rule.time.min + rule.time.max) / 2;
        return { fault: rule.fault, ms: Math.round(exponential(random, mean)), random };
      });
    },
  };
}
