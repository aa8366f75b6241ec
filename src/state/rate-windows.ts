import { join } from 'node:path';
import { quietly } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { fileFailure, readBounded } from '../base/files.ts';
import { isNumber, isRecord, parseObject } from '../base/json-object.ts';
import { withLock } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';
import { sha256 } from '../base/sha256.ts';
import { RATE_WINDOW_MS } from '../contract/limits.ts';
import type { RateWindows, WindowSlot } from '../contract/ports/rate-windows.ts';

/** A lane: the calls that share one rate limit. Times are epoch ms. */
interface Lane {
  /** When each call left, oldest first; without those older than the rate window. */
  readonly calls: readonly number[];
  /** Until when the service has blocked the lane, by a 429. */
  readonly until: number;
  /** When the lane was last used. If this is in the future, the clock was set back. */
  readonly seen: number;
  /** The limit that an earlier response stated. */
  readonly known: number | null;
}

type Change<T> = (lane: Lane, now: number) => { readonly lane: Lane; readonly result: T };

const EMPTY: Lane = { calls: [], until: 0, seen: 0, known: null };
const VERSION = 2;
/** The most bytes of a file that is read; the lanes of a whole team need far less. */
const LARGEST = 16 * 1024 * 1024;
/** Lanes that were not used for so long are removed from the file. */
const FORGET_MS = 30 * 86_400_000;

interface WindowOptions {
  /** The state folder; if it is undefined, calls are counted only for this process. */
  readonly dir: string | undefined;
  readonly baseUrl: string;
  /** It is read at each use, because a command can print another key during the run. */
  readonly key: string;
  readonly clock: Pick<Clock, 'now'> & Partial<Pick<Clock, 'sleep'>>;
  readonly notice?: ((text: string) => void) | undefined;
}

/**
 * The rate limits of all processes of this machine. Each base URL has a file, which is
 * replaced under a lock. If that fails, calls are counted only for this process.
 */
export class FileWindows implements RateWindows {
  readonly #file: string | undefined;
  readonly #options: WindowOptions;
  #hashed: { readonly key: string; readonly hash: string } | undefined;
  #lanes = new Map<string, Lane>();
  #isOnDisk: boolean;
  /** The change before the next one: the calls of this process do not compete for the lock. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: WindowOptions) {
    const { dir, baseUrl } = options;
    const service = sha256(`trdr windows\n${baseUrl}`).slice(0, 24);
    this.#file = dir && join(dir, `windows-${service}.json`);
    this.#options = options;
    this.#isOnDisk = this.#file !== undefined;
  }

  take(name: string, limit: number): Promise<WindowSlot> {
    return this.#change(name, (lane, now) => takeSlot(lane, limit, now));
  }

  /**
   * Removes nothing: waiting calls are not in a queue, and the first one to ask takes the next free
   * slot.
   */
  async drop(): Promise<void> {}

  depart(name: string, _ticket: number, lateMs: number): Promise<boolean> {
    return this.#change(name, (lane, now) => moveCall(lane, lateMs, now));
  }

  async block(name: string, ms: number): Promise<void> {
    await this.#change(name, (lane, now) => {
      const until = Math.max(lane.until, now + ms);
      return { lane: { ...lane, until }, result: undefined };
    });
  }

  async learn(name: string, limit: number): Promise<void> {
    await this.#change(name, (lane) => ({
      lane: isCount(limit) ? { ...lane, known: limit } : lane,
      result: undefined,
    }));
  }

  #change<T>(lane: string, change: Change<T>): Promise<T> {
    // The service counts resolves per IP address, so all keys share this lane.
    const name = lane === 'resolve' ? lane : `${lane}@${this.#keyHash}`;
    const result = this.#turn.then(() => this.#update(name, change));
    this.#turn = result;
    return result;
  }

  get #keyHash(): string {
    const { baseUrl, key } = this.#options;
    if (this.#hashed?.key !== key) {
      const hash = sha256(`trdr lane\n${baseUrl}\n${key}`).slice(0, 24);
      this.#hashed = { key, hash };
    }
    return this.#hashed.hash;
  }

  async #update<T>(name: string, change: Change<T>): Promise<T> {
    const file = this.#file;
    if (file === undefined || !this.#isOnDisk) return this.#apply(name, change);
    const { clock, notice } = this.#options;
    const { sleep } = clock;
    let applied: { readonly result: T } | undefined;
    try {
      await withLock(
        `${file}.lock`,
        () => {
          this.#lanes = readLanes(quietly(() => readBounded(file, LARGEST)) ?? '');
          applied = { result: this.#apply(name, change) };
          const text = writeLanes(this.#lanes, clock.now());
          // Skip the sync: a restart after a power failure takes longer than the rate window of a
          // minute.
          writeAtomic(file, text, { sync: false, temporary: `${file}.tmp` });
        },
        { timeoutMs: 5_000, ...(sleep && { sleep }) },
      );
    } catch (error) {
      this.#isOnDisk = false;
      const { message } = error instanceof Failure ? error : fileFailure('write', file, error);
      notice?.(`the rate limit is not shared with other trdr processes: ${message}`);
    }
    // The change counts even if it could not be saved.
    return applied === undefined ? this.#apply(name, change) : applied.result;
  }

  #apply<T>(name: string, change: Change<T>): T {
    const { now } = this.#options.clock;
    const { lane, result } = change(expireCalls(this.#lanes.get(name) ?? EMPTY, now()), now());
    this.#lanes.set(name, lane);
    return result;
  }
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
    result: { waitMs, statedLimit: lane.known },
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

/** Reads a file and skips its invalid parts. If trdr then sends too many calls, the service answers with a 429, and trdr
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

const isTime = (value: unknown): value is number => isNumber(value) && Math.abs(value) <= 8.64e15;
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0;
