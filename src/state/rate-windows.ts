import { join } from 'node:path';
import { quietly } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { fileFailure, readBounded } from '../base/files.ts';
import { isRecord, parseObject } from '../base/json-object.ts';
import { withLock } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';
import { sha256 } from '../base/sha256.ts';
import { RATE_WINDOW_MS } from '../contract/limits.ts';
import type { RateWindows } from '../contract/ports/rate-windows.ts';

/** The calls that share one rate limit. Times are epoch ms. */
interface Lane {
  /** When each call left, oldest first; without those older than the rate window. */
  readonly calls: readonly number[];
  readonly until: number;
  /** When the lane was last used. If this is in the future, the clock was set back. */
  readonly seen: number;
  readonly known: number | null;
}

type Change<T> = (lane: Lane, now: number) => { readonly lane: Lane; readonly result: T };

const EMPTY: Lane = { calls: [], until: 0, seen: 0, known: null };
const VERSION = 2;
/** The lanes of a whole team need far less. */
const LARGEST = 16 * 1024 * 1024;
/** Unused lanes are then removed from the file. */
const FORGET_MS = 30 * 86_400_000;

/**
 * Each base URL has a file, replaced under a lock. If that fails, calls are counted only for this
 * process.
 */
export function openWindows(
  dir: string | undefined,
  baseUrl: string,
  key: string,
  { now, sleep }: Pick<Clock, 'now'> & Partial<Pick<Clock, 'sleep'>>,
  notice?: (text: string) => void,
): RateWindows {
  const file = dir && join(dir, `windows-${sha256(`trdr windows\n${baseUrl}`).slice(0, 24)}.json`);
  const keyHash = sha256(`trdr lane\n${baseUrl}\n${key}`).slice(0, 24);
  let lanes = new Map<string, Lane>();
  let onDisk = file !== undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function update<T>(name: string, change: Change<T>): Promise<T> {
    const apply = (): T => {
      const { lane, result } = change(expireCalls(lanes.get(name) ?? EMPTY, now()), now());
      lanes.set(name, lane);
      return result;
    };
    if (file === undefined || !onDisk) return apply();
    let applied: { readonly result: T } | undefined;
    try {
      await withLock(
        `${file}.lock`,
        () => {
          lanes = readLanes(quietly(() => readBounded(file, LARGEST)) ?? '');
          applied = { result: apply() };
          // Skip the sync: a restart after a power failure takes longer than the rate window of a
          // minute.
          writeAtomic(file, writeLanes(lanes, now()), { sync: false, temporary: `${file}.tmp` });
        },
        { timeoutMs: 5_000, ...(sleep && { sleep }) },
      );
    } catch (error) {
      onDisk = false;
      const { message } = error instanceof Failure ? error : fileFailure('write', file, error);
      notice?.(`the rate limit is not shared with other trdr processes: ${message}`);
    }
    return applied === undefined ? apply() : applied.result;
  }

  /** One at a time, so that the calls of this process do not compete for the lock. */
  function inTurn<T>(lane: string, change: Change<T>): Promise<T> {
    // The service counts resolves per IP address, so all keys share this lane.
    const name = lane === 'resolve' ? lane : `${lane}@${keyHash}`;
    const result = turn.then(() => update(name, change));
    turn = result;
    return result;
  }

  return {
    take: (name, limit) => inTurn(name, (lane, at) => takeSlot(lane, limit, at)),
    // Nothing to remove: waiting calls are not in a queue, and the first one to ask takes the next
    // free slot.
    drop: async () => {},
    depart: (name, _, lateMs) => inTurn(name, (lane, at) => moveCall(lane, lateMs, at)),
    block: (name, ms) =>
      inTurn(name, (lane, at) => ({
        lane: { ...lane, until: Math.max(lane.until, at + ms) },
        result: undefined,
      })),
    learn: (name, limit) =>
      inTurn(name, (lane) => ({
        lane: isCount(limit) ? { ...lane, known: limit } : lane,
        result: undefined,
      })),
  };
}

/**
 * Removes calls older than the rate window. If the clock was set back, moves all times back by the
 * same amount.
 */
function expireCalls(lane: Lane, now: number): Lane {
  const back = Math.max(0, lane.seen - now);
  const calls = lane.calls
    .map((at) => Math.min(at - back, now))
    .filter((at) => at + RATE_WINDOW_MS > now);
  return { ...lane, calls, until: lane.until - back, seen: now };
}

/** Counts a call if the lane allows it; or returns how many milliseconds to wait. */
function takeSlot(lane: Lane, limit: number, now: number) {
  const answer = (waitMs: number, next = lane) => ({
    lane: next,
    result: { waitMs, known: lane.known },
  });
  if (lane.until > now) return answer(lane.until - now);
  // The lane has no free capacity until this call leaves the rate window.
  const first = lane.calls.at(-Math.max(1, Math.floor(limit)));
  if (first !== undefined) return answer(first + RATE_WINDOW_MS - now);
  return answer(0, { ...lane, calls: [...lane.calls, now] });
}

/**
 * Counts a call that was counted about `lateMs` ago as leaving now. Returns false if it has
 * expired.
 */
function moveCall(lane: Lane, lateMs: number, now: number) {
  // The caller measured the time a moment after the call was counted.
  const taken = lane.calls.findLastIndex((at) => at <= now - lateMs + 1);
  if (taken === -1) return { lane, result: false };
  return { lane: { ...lane, calls: [...lane.calls.toSpliced(taken, 1), now] }, result: true };
}

const writeLanes = (lanes: ReadonlyMap<string, Lane>, now: number): string =>
  JSON.stringify({
    version: VERSION,
    lanes: [...lanes].filter(
      ([, { until, seen }]) => until > now || Math.abs(now - seen) < FORGET_MS,
    ),
  });

/**
 * Skips invalid parts. If trdr then sends too many calls, the service answers with a 429, and trdr
 * waits.
 */
function readLanes(text: string): Map<string, Lane> {
  const { version, lanes } = parseObject(text) ?? {};
  return new Map(version === VERSION && Array.isArray(lanes) ? lanes.filter(isLane) : []);
}

const isLane = (entry: unknown): entry is readonly [string, Lane] => {
  const [name, lane]: readonly unknown[] = Array.isArray(entry) ? entry : [];
  if (typeof name !== 'string' || !isRecord(lane)) return false;
  const { calls, until, seen, known } = lane;
  const isKnown = known === null || isCount(known);
  return isTime(until) && isTime(seen) && isKnown && Array.isArray(calls) && calls.every(isTime);
};

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= 8.64e15;
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0;
