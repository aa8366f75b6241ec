import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { quietly } from './calls.ts';
import { errno } from './files.ts';

export interface LockHolder {
  readonly token: string;
  readonly pid: number;
  /** When the process started, as the kernel reports it; empty if it does not. */
  readonly began: string;
  /** Machine, boot and pid namespace. Pids can be compared only if all three are equal. */
  readonly place: string;
  readonly since: number;
}

const SEPARATOR = '|';

/** One line without spaces, because it can become the target of a symbolic link. */
export const holderText = ({ token, pid, began, place, since }: LockHolder): string =>
  [token, pid, began, since, place].join(SEPARATOR);

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

/** Both are empty on systems other than Linux. */
function statusOf(pid: number): { state: string; began: string } {
  const status = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? '';
  // The process name, the second field, may contain spaces and parentheses.
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
export function holderNow(now: number): LockHolder {
  began ??= statusOf(process.pid).began;
  const token = `${process.pid}-${now.toString(36)}-${(acquisitions++).toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
  return { token, pid: process.pid, began, place: placeOf(), since: now };
}

export const otherHostOf = (holder: LockHolder): string | undefined =>
  holder.place === placeOf() ? undefined : (holder.place.split('/')[0] ?? '') || 'another machine';

/** A lock of another machine whose time stamp is older counts as abandoned. Clocks of machines may differ. */
export const UNTOUCHED_MS = 300_000;

/** `touched` is the time stamp of the lock, epoch ms. */
export function isGone(holder: LockHolder | undefined, touched: number, now: number): boolean {
  // The pid cannot be checked, so only a recent time stamp shows that the lock is in use.
  if (holder === undefined || holder.place !== placeOf()) return now - touched > UNTOUCHED_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Any other error means that the process exists; it may belong to another user.
    if (errno(error) === 'ESRCH') return true;
  }
  // The process may be a zombie, or the pid may have been reused.
  const { state, began } = statusOf(holder.pid);
  return state === 'Z' || state === 'X' || (holder.began !== '' && began !== '' && began !== holder.began);
}
