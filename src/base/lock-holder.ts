import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { quietly } from './calls.ts';
import { errno } from './files.ts';

/** The process that holds a lock, as recorded in the lock. */
export interface LockHolder {
  /** Unique to each acquisition, even within one process. */
  readonly token: string;
  readonly pid: number;
  /** When the process started, as the kernel reports it; empty on systems that do not provide this. */
  readonly began: string;
  /**
   * Identifies the machine, its boot and the pid namespace. Pids can be compared only if all three are equal.
   */
  readonly place: string;
  readonly since: number;
}

const SEPARATOR = '|';

/** The text of a lock: one line without spaces, because the text can become the target of a symbolic link. */
export const holderText = ({ token, pid, began, place, since }: LockHolder): string =>
  [token, pid, began, since, place].join(SEPARATOR);

/** Parses the text of a lock; undefined if the text is incomplete or invalid. */
export function readHolder(text: string): LockHolder | undefined {
  const [token, pid, began, since, ...place] = text.split(SEPARATOR);
  // The token becomes part of a file name, so only the characters that trdr writes are allowed.
  if (!token || !/^[\w-]{1,80}$/.test(token)) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(pid ?? '') || !/^\d{1,15}$/.test(since ?? '')) return undefined;
  if (began === undefined || place.length === 0) return undefined;
  return { token, pid: Number(pid), began, since: Number(since), place: place.join(SEPARATOR) };
}

/** Whether a text may be the beginning of a lock's text, cut off by a crash. */
export const isTorn = (text: string): boolean => /^[\w-]{0,80}(\|\d*){0,3}\0*$/.test(text);

/** Status letter and start time of a process on Linux. Both are empty if they cannot be read, as on other systems. */
function statusOf(pid: number): { state: string; began: string } {
  const status = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
  // The second field, the process name, may contain spaces and parentheses.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', began: fields[19] ?? '' };
}

let place: string | undefined;
function placeOf(): string {
  place ??= [
    hostname(),
    quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()),
    quietly(() => readlinkSync('/proc/self/ns/pid')),
  ].join('/');
  return place;
}

let acquisitions = 0;
let began: string | undefined;
/** Describes this process as the holder of a lock that it acquires at `now`. */
export function holderNow(now: number): LockHolder {
  began ??= statusOf(process.pid).began;
  const token = `${process.pid}-${now.toString(36)}-${(acquisitions++).toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
  return { token, pid: process.pid, began, place: placeOf(), since: now };
}

/**
 * The host name of a holder whose pid cannot be checked, because the holder is on another machine or in another
 * container. Undefined if the pid can be checked.
 */
export const otherHostOf = (holder: LockHolder): string | undefined =>
  holder.place === placeOf() ? undefined : (holder.place.split('/')[0] ?? '') || 'another machine';

/**
 * A lock of another machine or container counts as abandoned if its holder has not updated the lock's time
 * stamp for this long. Five minutes leave room for clocks that differ between machines.
 */
export const UNTOUCHED_MS = 300_000;

/**
 * Whether a lock is abandoned: its holder is dead, or cannot be checked and has not updated the lock's time
 * stamp for `UNTOUCHED_MS`. `touched` is this time stamp, epoch ms.
 */
export function isGone(holder: LockHolder | undefined, touched: number, now: number): boolean {
  // If the lock is incomplete or belongs to another machine, the pid cannot be checked. Only a recent time
  // stamp then shows that the lock is in use.
  if (holder === undefined || holder.place !== placeOf()) return now - touched > UNTOUCHED_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Any other error means that the process exists; it may belong to another user.
    if (errno(error) === 'ESRCH') return true;
  }
  // The pid exists, but its process may be a zombie, or the pid may have been reused for another process.
  const { state, began } = statusOf(holder.pid);
  return state === 'Z' || state === 'X' || (holder.began !== '' && began !== '' && began !== holder.began);
}
