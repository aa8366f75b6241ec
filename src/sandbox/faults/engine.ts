import type { EndpointId } from '../../contract/endpoints.ts';
import { exponential, type Random, randomOf } from '../random.ts';
import { type FaultPlace, type FaultRule, parseFaults } from './grammar.ts';

export interface TriggeredFault extends Pick<FaultRule, 'kind' | 'code' | 'status'> {
  /**
   * The delay or duration in milliseconds; for a 429, the wait that it requires; 0 without a time.
   */
  readonly ms: number;
  readonly random: Random;
}

interface ActiveRule extends FaultRule {
  /**
   * Each rule draws its own numbers, so that adding one does not change when the others trigger.
   */
  readonly random: Random;
  seen: number;
  triggered: number;
}

/** The active faults: the same seed and the same events in the same order trigger the same ones. */
export class Faults {
  readonly #seed: number;
  #rules: readonly ActiveRule[] = [];

  constructor(text: string, seed: number) {
    this.#seed = seed;
    this.set(text);
  }

  set(text: string): void {
    this.#rules = parseFaults(text).map((rule, at) => ({
      ...rule,
      random: randomOf(this.#seed, `fault ${at} ${rule.text}`),
      seen: 0,
      triggered: 0,
    }));
  }

  /** How often each rule was triggered, by its text. */
  get triggered(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#rules.map((rule) => [rule.text, rule.triggered]));
  }

  trigger(place: FaultPlace, target: EndpointId | 'ws'): TriggeredFault[] {
    return this.#rules
      .filter(
        (rule) => rule.place === place && rule.chance !== null && rule.at(target) && trigger(rule),
      )
      .map((rule) => {
        const { min, max } = rule.time ?? { min: 0, max: 0 };
        const ms = min === max ? min : min + rule.random() * (max - min);
        return { ...rule, ms: Math.round(ms) };
      });
  }

  /** The faults to apply to a new WebSocket later, each after its `ms` milliseconds. */
  triggerTimed(): TriggeredFault[] {
    return this.#rules.flatMap((rule) => {
      if (rule.chance !== null || !rule.time || !trigger(rule)) return [];
      const mean = (rule.time.min + rule.time.max) / 2;
      return { ...rule, ms: Math.round(exponential(rule.random, mean)) };
    });
  }
}

/** Counts a chance of a fault to happen; returns whether it does. */
function trigger(rule: ActiveRule): boolean {
  const { chance, count, skip, random } = rule;
  if (rule.triggered >= count || rule.seen++ < skip) return false;
  if (chance !== null && chance < 1 && random() >= chance) return false;
  rule.triggered++;
  return true;
}
