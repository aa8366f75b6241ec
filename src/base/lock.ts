import {
  lstatSync,
  lutimesSync,
  readFileSync,
  readlinkSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { once, quietly } from './calls.ts';
import { type Clock, systemClock } from './clock.ts';
import { Failure } from './failure.ts';
import { discard, ensureFolder, errno, fileFailure, PRIVATE_FILE } from './files.ts';
import { isRunning } from './is-running.ts';
import { sha256 } from './sha256.ts';

/** A lock that this process holds. */
export interface LockHandle {
  /** Has no effect the second time. */
  release(): void;
}

/**
 * Acquires the lock at `path`, or returns its holder; undefined if the lock does not name it. If
 * the holder is dead, its lock is removed under the protection of a second lock, whose name is
 * derived from the first; if the holder of that one is dead too, it is removed by the same
 * procedure.
 */
export function tryLock(
  path: string,
  now = Date.now(),
  host = '',
): LockHandle | LockHolder | undefined {
  for (;;) {
    const own = holderNow(now, host);
    const handle = { release: () => release(path, own.token) };
    if (make(path, holderText(own))) return handle;
    const seen = look(path);
    if (seen === undefined) continue;
    // A network file system that lost its answer repeats the request, which then finds the lock
    // that it made.
    if (seen.token === own.token) return handle;
    if (!isGone(seen.holder, seen.touched, Date.now())) return seen.holder;
    const breaking = tryLock(`${path}.${seen.token}`, now);
    // Another process is removing the abandoned lock, which counts as in use until then.
    if (!isHeld(breaking)) return breaking;
    // Another process may have replaced the lock before this one got the second lock.
    if (look(path)?.token === seen.token) discard(path);
    breaking.release();
  }
}

export const isHeld = (result: LockHandle | LockHolder | undefined): result is LockHandle =>
  result !== undefined && 'release' in result;

/** Whether a living process holds the lock at a path, as far as this machine can tell. */
export function isLocked(path: string): boolean {
  const seen = look(path);
  return seen !== undefined && !isGone(seen.holder, seen.touched, Date.now());
}

function make(path: string, text: string): boolean {
  try {
    // A dangling symbolic link, because the system creates a link and its text in one step.
    symlinkSync(text, path);
    return true;
  } catch (error) {
    if (errno(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL', 'UNKNOWN'].includes(errno(error)))
      throw error;
  }
  try {
    // Symbolic links are not available. A crash can leave an incomplete file.
    writeFileSync(path, text, { flag: 'wx', mode: PRIVATE_FILE });
    return true;
  } catch (error) {
    // Windows reports EPERM while the previous lock file is being deleted.
    if (errno(error) === 'EEXIST' || (errno(error) === 'EPERM' && look(path) !== undefined))
      return false;
    throw error;
  }
}

function lockText(path: string, stats: Stats): string {
  if (stats.isSymbolicLink()) return readlinkSync(path);
  // Do not open a FIFO, because this would wait for a writer.
  return stats.isFIFO() ? '?' : readFileSync(path, 'utf8');
}

/** The lock at a path; undefined if there is none. */
function look(path: string) {
  try {
    const stats = lstatSync(path);
    const text = lockText(path, stats);
    const holder = readHolder(text);
    // Never remove a file that is not a lock, however old it is. Epoch ms.
    const touched = holder || isTorn(text) ? stats.mtimeMs : Number.POSITIVE_INFINITY;
    return { holder, token: holder?.token ?? `torn-${stats.ino}`, touched };
  } catch (error) {
    if (errno(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function release(path: string, token: string): void {
  // Another process may have acquired the lock while the machine was suspended, or after a user
  // removed it.
  if (quietly(() => look(path))?.token === token) discard(path);
}

/** Runs `work` while holding a lock. Other processes wait for it, so `work` must be short. */
export async function withLock<T>(
  path: string,
  work: () => T | Promise<T>,
  {
    timeoutMs = 10_000,
    signal,
    sleep = systemClock.sleep,
  }: {
    readonly timeoutMs?: number;
    readonly signal?: AbortSignal | undefined;
    readonly sleep?: Clock['sleep'];
  } = {},
): Promise<T> {
  ensureFolder(dirname(path));
  let waited = 0;
  for (;;) {
    signal?.throwIfAborted();
    const result = tryLock(path);
    if (isHeld(result)) {
      try {
        return await work();
      } finally {
        result.release();
      }
    }
    if (waited >= timeoutMs) throw lockedFailure(path, result);
    // Wait for a random time, so that waiting processes do not retry at the same moment.
    const ms = 1 + Math.random() * Math.min(25, 2 + waited / 8);
    await sleep(ms, signal);
    waited += ms;
  }
}

/**
 * Acquires a lock for a whole run, or fails at once and names the holder. Keeps the time stamp
 * recent, because other machines cannot check the pid.
 */
export function holdLock(path: string, what: string): LockHandle {
  let result: LockHandle | LockHolder | undefined;
  try {
    ensureFolder(dirname(path));
    result = tryLock(path, Date.now(), hostname());
  } catch (error) {
    throw fileFailure('lock', what, error);
  }
  if (!isHeld(result)) throw lockedFailure(path, result, what);
  const lock = result;
  const beat = setInterval(() => {
    const now = new Date();
    // Where this fails, processes of this machine still check the pid.
    quietly(() => lutimesSync(path, now, now));
  }, UNTOUCHED_MS / 20);
  beat.unref();
  return {
    release() {
      clearInterval(beat);
      lock.release();
    },
  };
}

function lockedFailure(path: string, holder: LockHolder | undefined, what = path): Failure {
  if (holder === undefined) {
    return new Failure('local', `cannot lock ${what}: ${path} exists, but is not a lock of trdr`, {
      code: 'LOCKED',
      retryable: true,
      hint: `rename ${path}, or use a different name for ${what}`,
    });
  }
  const where = otherHostOf(holder);
  const on = where === undefined ? '' : ` on ${where}`;
  const who = `locked by process ${holder.pid}${on} since ${new Date(holder.since).toISOString()}`;
  return new Failure('local', `${what} is in use: ${who}`, {
    code: 'LOCKED',
    retryable: true,
    hint: `wait until that process ends; if no trdr is running${on}, remove ${path}`,
  });
}

/** The process that holds a lock, as the lock records it. */
interface LockHolder {
  /** Unique to each acquisition, even within one process. */
  readonly token: string;
  readonly pid: number;
  /** When the process started, as the kernel reports it; empty if it does not. */
  readonly began: string;
  /**
   * Stands for machine, boot and pid namespace. Pids can be compared only if all three are equal.
   */
  readonly place: string;
  /** Where another machine would look for the holder; empty in short-lived locks. */
  readonly host: string;
  /** When the lock was acquired, epoch ms. */
  readonly since: number;
}

const SEPARATOR = '|';

/**
 * The text of a lock: one line without spaces, because it can become the target of a symbolic link.
 * Without a host it has less than 60 bytes, which ext4 keeps in the inode: a link with a longer
 * text needs a block of its own, and takes three times as long to create.
 */
const holderText = ({ token, pid, began, place, host, since }: LockHolder): string =>
  [token, pid, began, since, host === '' ? place : `${place}/${host}`].join(SEPARATOR);

/** Parses the text of a lock; undefined if it is incomplete or invalid. */
function readHolder(text: string): LockHolder | undefined {
  const [token, pid, began, since, ...rest] = text.split(SEPARATOR);
  // The token becomes part of a file name, so only the characters that trdr writes are allowed.
  if (!token || !/^[\w-]{1,80}$/.test(token)) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(pid ?? '') || !/^\d{1,15}$/.test(since ?? '')) return undefined;
  if (began === undefined || rest.length === 0) return undefined;
  const [place = '', ...host] = rest.join(SEPARATOR).split('/');
  return { token, pid: Number(pid), began, since: Number(since), place, host: host.join('/') };
}

/** Whether a text may be the beginning of a lock's text, cut off by a crash. */
const isTorn = (text: string): boolean => /^[\w-]{0,80}(\|\d*){0,3}\0*$/.test(text);

/** The status letter and start time of a process; both are empty on systems other than Linux. */
function statusOf(pid: number): { state: string; began: string } {
  const status = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
  // The process name, the second field, may contain spaces and parentheses.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', began: fields[19] ?? '' };
}

/** Stands for the machine, its boot and the pid namespace of this process. */
const ownPlace = once(() => {
  const names = [
    hostname(),
    quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()),
    quietly(() => readlinkSync('/proc/self/ns/pid')),
  ];
  return sha256(names.join('/')).slice(0, 12);
});

const ownStart = once(() => statusOf(process.pid).began);

let acquisitions = 0;

/** This process as the holder of a lock that it acquires now. */
function holderNow(now: number, host: string): LockHolder {
  const chance = Math.random().toString(36).slice(2, 10);
  const number = (acquisitions++).toString(36);
  return {
    token: `${number}-${chance}`,
    pid: process.pid,
    began: ownStart(),
    place: ownPlace(),
    host,
    since: now,
  };
}

/**
 * The host of a holder whose pid cannot be checked, because it is on another machine or in a
 * container.
 */
const otherHostOf = (holder: LockHolder): string | undefined =>
  holder.place === ownPlace() ? undefined : holder.host || 'another machine';

/**
 * A lock of another machine or container counts as abandoned if its time stamp is older. Five
 * minutes leave room for clocks that differ between machines.
 */
const UNTOUCHED_MS = 300_000;

/**
 * Whether a lock is abandoned: its holder is dead, or cannot be checked and has not touched the
 * lock for long.
 */
function isGone(holder: LockHolder | undefined, touched: number, now: number): boolean {
  // The pid cannot be checked, so only a recent time stamp shows that the lock is in use.
  if (holder === undefined || holder.place !== ownPlace()) return now - touched > UNTOUCHED_MS;
  if (!isRunning(holder.pid)) return true;
  // The process may be a zombie, or the pid may have been reused.
  const { state, began } = statusOf(holder.pid);
  if (state === 'Z' || state === 'X') return true;
  return holder.began !== '' && began !== '' && began !== holder.began;
}
