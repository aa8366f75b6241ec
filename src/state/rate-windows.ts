import { join } from 'node:path';
import { quietly } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { fileFailure, readBounded } from '../base/files.ts';
import { withLock } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';
import { sha256 } from '../base/sha256.ts';
import type { RateWindows } from '../contract/ports.ts';
import {
  emptyLane,
  expireCalls,
  type LaneState,
  moveCall,
  readLanes,
  takeSlot,
  writeLanes,
} from './rate-lanes.ts';

/** The lanes of a whole team need far less. */
const LARGEST = 16 * 1024 * 1024;

/** Each base URL has a file, replaced under a lock. If that fails, calls are counted only for this process. */
export function openWindows(
  dir: string | undefined,
  baseUrl: string,
  key: string,
  { now, sleep }: Pick<Clock, 'now'> & Partial<Pick<Clock, 'sleep'>>,
  notice?: (text: string) => void,
): RateWindows {
  const file = dir && join(dir, `windows-${sha256(`trdr windows\n${baseUrl}`).slice(0, 24)}.json`);
  const keyHash = sha256(`trdr lane\n${baseUrl}\n${key}`).slice(0, 24);
  // The service counts resolves per IP address, so all keys share this lane.
  const nameOf = (lane: string) => (lane === 'resolve' ? lane : `${lane}@${keyHash}`);
  let lanes = new Map<string, LaneState>();
  let onDisk = file !== undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function update<T>(
    lane: string,
    change: (lane: LaneState) => { lane: LaneState; result: T },
  ): Promise<T> {
    const apply = (): T => {
      const { lane: next, result } = change(lanes.get(nameOf(lane)) ?? emptyLane);
      lanes.set(nameOf(lane), next);
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
          // Skip the sync to disk: a restart after a power failure takes longer than the rate window of a
          // minute, so the saved calls are no longer needed.
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
  function inTurn<T>(lane: string, change: (lane: LaneState) => { lane: LaneState; result: T }): Promise<T> {
    const result = turn.then(() => update(lane, change));
    turn = result;
    return result;
  }

  return {
    take: (lane, limit) => inTurn(lane, (state) => takeSlot(expireCalls(state, now()), limit, now())),
    // Nothing to remove: waiting calls are not in a queue, and the first one to ask takes the next free slot.
    drop: async () => {},
    depart: (lane, _, lateMs) => inTurn(lane, (state) => moveCall(expireCalls(state, now()), lateMs, now())),
    block: (lane, ms) =>
      inTurn(lane, (state) => {
        const settled = expireCalls(state, now());
        const until = now() + ms;
        return { lane: { ...settled, until: Math.max(settled.until, until) }, result: undefined };
      }),
    learn: (lane, limit) =>
      inTurn(lane, (state) => ({
        lane: { ...expireCalls(state, now()), known: isLimit(limit) ? limit : state.known },
        result: undefined,
      })),
  };
}

const isLimit = (limit: number) => Number.isSafeInteger(limit) && limit > 0;
