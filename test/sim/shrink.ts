import { simulate } from './run.ts';
import type { Schedule } from './schedule.ts';

/** Simpler variants of a schedule, the simplest first. */
function* simpler(schedule: Schedule): Generator<Schedule> {
  const { faults, kills } = schedule;
  for (let i = 0; i < faults.length; i++) yield { ...schedule, faults: faults.toSpliced(i, 1) };
  for (let i = kills.length - 1; i >= 0; i--) yield { ...schedule, kills: kills.slice(0, i) };
  if (schedule.bursts > 0) yield { ...schedule, bursts: schedule.bursts - 1 };
  if (schedule.busyMs > 30_000) yield { ...schedule, busyMs: schedule.busyMs / 2 };
  if (schedule.rate > 0.02) yield { ...schedule, rate: schedule.rate / 2 };
  if (schedule.odd > 0) yield { ...schedule, odd: 0 };
  if (schedule.nameless > 0) yield { ...schedule, nameless: 0 };
  if (schedule.answer !== 'described') yield { ...schedule, answer: 'described' };
  if (!schedule.pings) yield { ...schedule, pings: true };
  if (schedule.old > 0) yield { ...schedule, old: 0 };
  if (schedule.vanish > 0) yield { ...schedule, vanish: 0 };
  if (schedule.late > 0) yield { ...schedule, late: 0 };
  if (schedule.behindMs > 0) yield { ...schedule, behindMs: 0 };
  if (schedule.sifted) yield { ...schedule, sifted: false };
  if (schedule.timeless) yield { ...schedule, timeless: false };
  if (schedule.twenty) yield { ...schedule, twenty: false };
  if (schedule.skew !== 0) yield { ...schedule, skew: 0 };
  if (schedule.start.kind !== 'now') yield { ...schedule, start: { kind: 'now' } };
}

/** Simplifies a failing schedule as long as it still fails. */
export async function shrink(schedule: Schedule, tries = 300): Promise<Schedule> {
  let left = tries;
  let best = schedule;
  for (let found = true; found && left > 0; ) {
    found = false;
    for (const next of simpler(best)) {
      if (--left <= 0) break;
      if ((await simulate([next])).length === 0) continue;
      best = next;
      found = true;
      break;
    }
  }
  return best;
}
