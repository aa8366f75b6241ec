import type { EndpointId } from '../../contract/endpoints.ts';
import { exponential, type Random, randomOf } from '../random.ts';
import { type FaultRule, parseFaults, type TimeRange } from './grammar.ts';
import { defaultTimes, type FaultPlace } from './kinds.ts';

/** A fault that an event has triggered, with the delay or duration of the fault. */
export interface TriggeredFault {
  readonly fault: FaultRule['fault'];
  /** The delay or duration in milliseconds (for a 429: the wait that it requires); 0 if the fault has no time. */
  readonly ms: number;
  /** A random number generator, for faults that make random choices. */
  readonly random: Random;
}

/** The active faults. The same seed and the same events in the same order trigger the same faults. */
export interface Faults {
  /**
   * Replaces the active faults; an empty text removes all faults. Throws a usage failure if the text is
   * invalid.
   */
  set(text: string): void;
  /** Adds faults to the active ones. */
  add(text: string): void;
  readonly text: string;
  /** How often each rule was triggered, by the text of the rule. */
  readonly triggered: Readonly<Record<string, number>>;
  /** Returns the faults to apply to an event. */
  trigger(place: FaultPlace, target: EndpointId | 'ws'): readonly TriggeredFault[];
  /** Returns the faults to apply to a new WebSocket later, each after its `ms` milliseconds. */
  triggerTimed(): readonly TriggeredFault[];
}

interface ActiveRule {
  readonly rule: FaultRule;
  readonly random: Random;
  seen: number;
  triggered: number;
}

export function createFaults(text: string, seed: number): Faults {
  let active: ActiveRule[] = [];
  const add = (more: string) => {
    const rules = parseFaults(more);
    active = active.concat(
      rules.map((rule, at) => ({
        rule,
        random: randomOf(seed, `fault ${active.length + at} ${rule.text}`),
        seen: 0,
        triggered: 0,
      })),
    );
  };
  const mayTrigger = (one: ActiveRule) => one.triggered < one.rule.count;
  add(text);

  return {
    set(next) {
      const before = active;
      active = [];
      try {
        add(next);
      } catch (error) {
        active = before;
        throw error;
      }
    },
    add,
    get text() {
      return active.map(({ rule }) => rule.text).join(',');
    },
    get triggered() {
      return Object.fromEntries(active.map(({ rule, triggered }) => [rule.text, triggered]));
    },
    trigger(place, target) {
      if (active.length === 0) return [];
      const faults: TriggeredFault[] = [];
      for (const one of active) {
        const { rule, random } = one;
        if (rule.place !== place || rule.chance === null || !rule.at(target) || !mayTrigger(one)) continue;
        if (one.seen++ < rule.skip) continue;
        if (rule.chance < 1 && random() >= rule.chance) continue;
        one.triggered++;
        faults.push({ fault: rule.fault, ms: timeFrom(rule, random), random });
      }
      return faults;
    },
    triggerTimed() {
      const faults: TriggeredFault[] = [];
      for (const one of active) {
        if (one.rule.chance !== null || !one.rule.time || !mayTrigger(one)) continue;
        if (one.seen++ < one.rule.skip) continue;
        one.triggered++;
        const mean = (one.rule.time.min + one.rule.time.max) / 2;
        faults.push({ fault: one.rule.fault, ms: exponential(one.random, mean), random: one.random });
      }
      return faults;
    },
  };
}

const within = ({ min, max }: TimeRange, random: Random) =>
  min === max ? min : min + random() * (max - min);

const timeFrom = ({ time, fault }: FaultRule, random: Random) => {
  if (time) return within(time, random);
  return fault.kind === 'answer' ? 0 : (defaultTimes[fault.kind] ?? 0);
};
