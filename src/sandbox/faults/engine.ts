import type { EndpointId } from '../../contract/endpoints.ts';
import { exponential, type Random, randomOf } from '../random.ts';
import { type FaultRule, parseFaults, type TimeRange } from './grammar.ts';
import { defaultTimes, type FaultPlace } from './kinds.ts';

/** A fault that strikes now, with the time drawn for it. */
export interface Strike {
  readonly what: FaultRule['what'];
  /** Milliseconds; 0 where none was given. */
  readonly ms: number;
}

/** The faults in force. Same seed, same order of events: same strikes. */
export interface Faults {
  /** Puts other faults in force; an empty text ends all. Throws a usage Failure for a text it can't read. */
  set(text: string): void;
  /** Adds to those in force. */
  add(text: string): void;
  readonly text: string;
  /** How often each rule struck, by its text. */
  readonly struck: Readonly<Record<string, number>>;
  /** What strikes this event. */
  draw(place: FaultPlace, target: EndpointId | 'ws'): readonly Strike[];
  /** What strikes a new socket after some time. */
  drawTimes(): readonly Strike[];
}

interface Armed {
  readonly rule: FaultRule;
  readonly random: Random;
  seen: number;
  struck: number;
}

export function createFaults(text: string, seed: number): Faults {
  let armed: Armed[] = [];
  const add = (more: string) => {
    const rules = parseFaults(more);
    armed = armed.concat(
      rules.map((rule, at) => ({
        rule,
        random: randomOf(seed, `fault ${armed.length + at} ${rule.text}`),
        seen: 0,
        struck: 0,
      })),
    );
  };
  const left = (one: Armed) => one.struck < one.rule.count;
  add(text);

  return {
    set(next) {
      const before = armed;
      armed = [];
      try {
        add(next);
      } catch (error) {
        armed = before;
        throw error;
      }
    },
    add,
    get text() {
      return armed.map(({ rule }) => rule.text).join(',');
    },
    get struck() {
      return Object.fromEntries(armed.map(({ rule, struck }) => [rule.text, struck]));
    },
    draw(place, target) {
      if (armed.length === 0) return [];
      const strikes: Strike[] = [];
      for (const one of armed) {
        const { rule, random } = one;
        if (rule.place !== place || rule.chance === null || !rule.at(target) || !left(one)) continue;
        if (one.seen++ < rule.skip) continue;
        if (rule.chance < 1 && random() >= rule.chance) continue;
        one.struck++;
        strikes.push({ what: rule.what, ms: timeFrom(rule, random) });
      }
      return strikes;
    },
    drawTimes() {
      const strikes: Strike[] = [];
      for (const one of armed) {
        if (one.rule.chance !== null || !one.rule.time || !left(one)) continue;
        if (one.seen++ < one.rule.skip) continue;
        one.struck++;
        const mean = (one.rule.time.least + one.rule.time.most) / 2;
        strikes.push({ what: one.rule.what, ms: exponential(one.random, mean) });
      }
      return strikes;
    },
  };
}

const within = ({ least, most }: TimeRange, random: Random) =>
  least === most ? least : least + random() * (most - least);

const timeFrom = ({ time, what }: FaultRule, random: Random) => {
  if (time) return within(time, random);
  return what.kind === 'answer' ? 0 : (defaultTimes[what.kind] ?? 0);
};
