import { parseObject } from '../base/json-object.ts';
import { RATE_WINDOW_MS } from '../contract/limits.ts';

/** Per time slot, so that a lane with a high limit needs little memory. */
const SLOT_MS = 250;

/** The calls that share one rate limit. Times are epoch ms. */
export interface LaneState {
  /** The number of calls in each slot, oldest first. */
  readonly slots: readonly (readonly [slot: number, calls: number])[];
  readonly until: number;
  /** When the lane was last used. If this is in the future, the clock was set back. */
  readonly seen: number;
  readonly known: number | null;
}

export const emptyLane: LaneState = { slots: [], until: 0, seen: 0, known: null };

/** Removes calls older than the rate window. If the clock was set back, moves all times back by the same amount. */
export function expireCalls(lane: LaneState, now: number): LaneState {
  const back = Math.max(0, lane.seen - now);
  const shift = Math.floor(back / SLOT_MS);
  const present = Math.floor(now / SLOT_MS);
  const slots: [number, number][] = [];
  for (const [slot, calls] of lane.slots) {
    const at = Math.min(slot - shift, present);
    if ((at + 1) * SLOT_MS + RATE_WINDOW_MS <= now) continue;
    const last = slots.at(-1);
    if (last && last[0] >= at) last[1] += calls;
    else slots.push([at, calls]);
  }
  return { ...lane, slots, until: lane.until - back, seen: now };
}

/** Counts a call if the lane, without its expired calls, allows it; or returns how many milliseconds to wait. */
export function takeSlot(lane: LaneState, limit: number, now: number) {
  const answer = (waitMs: number, next = lane) => ({ lane: next, result: { waitMs, known: lane.known } });
  if (lane.until > now) return answer(lane.until - now);
  const allowed = Math.max(1, Math.floor(limit));
  let above = lane.slots.reduce((sum, [, calls]) => sum + calls, 1 - allowed);
  if (above > 0) {
    for (const [slot, calls] of lane.slots) {
      above -= calls;
      // The lane has no free capacity until the calls of this time slot leave the rate window.
      if (above <= 0) return answer((slot + 1) * SLOT_MS + RATE_WINDOW_MS - now);
    }
  }
  return answer(0, counted(lane, now));
}

function counted(lane: LaneState, now: number): LaneState {
  const present = Math.floor(now / SLOT_MS);
  const last = lane.slots.at(-1);
  const slots =
    last?.[0] === present
      ? [...lane.slots.slice(0, -1), [present, last[1] + 1] as const]
      : [...lane.slots, [present, 1] as const];
  return { ...lane, slots };
}

/** Counts a call that was counted about `lateMs` ago as leaving now. Returns false if its slot has expired. */
export function moveCall(lane: LaneState, lateMs: number, now: number) {
  // The call was counted in this slot, or in an earlier one if the caller measured the time a moment later.
  const latest = Math.floor((now - lateMs) / SLOT_MS);
  const [taken] = lane.slots.filter(([slot]) => slot <= latest).slice(-1);
  if (taken === undefined) return { lane, result: false };
  const slots = lane.slots.flatMap(([slot, calls]): [number, number][] => {
    const left = slot === taken[0] ? calls - 1 : calls;
    return left > 0 ? [[slot, left]] : [];
  });
  return { lane: counted({ ...lane, slots }, now), result: true };
}

/** Unused lanes are then removed from the file. */
const FORGET_MS = 30 * 86_400_000;

export function writeLanes(lanes: ReadonlyMap<string, LaneState>, now: number): string {
  const kept = [...lanes].filter(([, lane]) => lane.until > now || Math.abs(now - lane.seen) < FORGET_MS);
  return JSON.stringify({
    version: 1,
    lanes: kept.map(([name, { slots, until, seen, known }]) => [name, until, seen, known, slots.flat()]),
  });
}

/** Skips invalid parts. If trdr then sends too many calls, the service answers with a 429, and trdr waits. */
export function readLanes(text: string): Map<string, LaneState> {
  const lanes = new Map<string, LaneState>();
  for (const row of rowsOf(text)) {
    if (!Array.isArray(row)) continue;
    const [name, until, seen, known, flat]: readonly unknown[] = row;
    if (typeof name !== 'string' || !isTime(until) || !isTime(seen)) continue;
    if (known !== null && !isCount(known)) continue;
    lanes.set(name, { until, seen, known, slots: slotsOf(flat) });
  }
  return lanes;
}

function rowsOf(text: string): readonly unknown[] {
  const { version, lanes } = parseObject(text) ?? {};
  return version === 1 && Array.isArray(lanes) ? lanes : [];
}

function slotsOf(flat: unknown): [number, number][] {
  const slots: [number, number][] = [];
  if (!Array.isArray(flat)) return slots;
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [slot, calls]: readonly unknown[] = flat.slice(at, at + 2);
    if (isTime(slot) && isCount(calls)) slots.push([slot, calls]);
  }
  return slots.sort((one, other) => one[0] - other[0]);
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= 8.64e15;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
