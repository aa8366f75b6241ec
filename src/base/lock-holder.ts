import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errno } from './files.ts';

/** The holder of a lock, as recorded in the lock. */
export interface LockHolder {
  /** Unique for every acquisition, even by the same process. */
  readonly token: string;
  readonly pid: number;
  /** Start time of the process as its kernel counts it; empty where the system does not provide it. */
  readonly began: string;
  /** The machine, boot and pid namespace: pids are comparable only within one. */
  readonly place: string;
  /** Epoch ms at which the lock was acquired. */
  readonly since: number;
}

const SEPARATOR = '|';

/** A holder as the text of a lock: one line without spaces, because it may be the target of a link. */
export const holderText = ({ token, pid, began, place, since }: LockHolder): string =>
  [token, pid, began, since, place].join(SEPARATOR);

/** Parses the text of a lock; undefined if it is torn or invalid. */
export function readHolder(text: string): LockHolder | undefined {
  const [token, pid, began, since, ...place] = text.split(SEPARATOR);
  // The token becomes part of a file name, so only the characters that trdr writes are allowed.
  if (!token || !/^[\w-]{1,80}$/.test(token)) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(pid ?? '') || !/^\d{1,15}$/.test(since ?? '')) return undefined;
  if (began === undefined || place.length === 0) return undefined;
  return { token, pid: Number(pid), began, since: Number(since), place: place.join(SEPARATOR) };
}

/** Whether a text may be the torn beginning of a lock's text. */
export const isTorn = (text: string): boolean => /^[\w-]{0,80}(\|\d*){0,3}\0*$/.test(text);

function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** State and start time of a process on Linux; both empty on other systems. */
function statusOf(pid: number): { state: string; began: string } {
  const status = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
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
/** This process as the holder of a lock acquired at `now`. */
export function holderNow(now: number): LockHolder {
  began ??= statusOf(process.pid).began;
  const token = `${process.pid}-${now.toString(36)}-${(acquisitions++).toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
  return { token, pid: process.pid, began, place: placeOf(), since: now };
}

/**
 * Locks of other machines and containers are considered abandoned when they were not touched for this long.
 * Five minutes tolerate clocks that differ.
 */
export const UNTOUCHED_MS = 300_000;

/** Whether the holder is known to be dead. `touched` is when its lock was last touched, epoch ms. */
export function isGone(holder: LockHolder | undefined, touched: number, now: number): boolean {
  // For a torn lock or one of another machine, the heartbeat is the only evidence.
  if (holder === undefined || holder.place !== placeOf()) return now - touched > UNTOUCHED_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Any other error means that the pid exists, perhaps as another user's process.
    if (errno(error) === 'ESRCH') return true;
  }
  // The pid exists but is a zombie, or was reused.
  const { state, began } = statusOf(holder.pid);
  return state === 'Z' || state === 'X' || (holder.began !== '' && began !== '' && began !== holder.began);
}
