import type { Clock } from './clock.ts';
import type { RateWindows } from './ports.ts';

// A little more than the service's minute: requests do not all take the same time to arrive.
const WINDOW_MS = 60_500;

/** Rate windows of one process alone, in memory. Any span of a minute holds no more than the limit. */
export function memoryWindows(clock: Clock): RateWindows {
  const lanes = new Map<string, { taken: number[]; blockedUntil: number; known: number | null }>();
  const laneOf = (name: string) => {
    let lane = lanes.get(name);
    if (!lane) {
      lane = { taken: [], blockedUntil: 0, known: null };
      lanes.set(name, lane);
    }
    return lane;
  };
  return {
    async take(name, limit) {
      const lane = laneOf(name);
      const now = clock.now();
      if (now < lane.blockedUntil) return { waitMs: lane.blockedUntil - now, known: lane.known };
      // A clock that was set back must not keep slots for longer than a window.
      lane.taken = lane.taken.filter((time) => time > now - WINDOW_MS && time <= now);
      const oldest = lane.taken[lane.taken.length - limit];
      if (oldest !== undefined) return { waitMs: Math.ceil(oldest + WINDOW_MS - now), known: lane.known };
      lane.taken.push(now);
      return { waitMs: 0, known: lane.known };
    },
    async block(name, untilEpochMs) {
      const lane = laneOf(name);
      lane.blockedUntil = Math.max(lane.blockedUntil, untilEpochMs);
    },
    async learn(name, limit) {
      laneOf(name).known = limit;
    },
  };
}
