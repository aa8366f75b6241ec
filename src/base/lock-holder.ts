import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errno } from './files.ts';

/** Who holds a lock, as it stands in the lock itself. */
export interface LockHolder {
  /** Differs for every lock ever taken: names one taking, not one process. */
  readonly token: string;
  readonly pid: number;
  /** When the process began, by its kernel's count; empty where the system does not tell. */
  readonly began: string;
  /** The machine, its boot and its process namespace: pids mean something only within one. */
  readonly place: string;
  /** Epoch ms at which the lock was taken. */
  readonly since: number;
}

const SEPARATOR = '|';

/** A holder as the text of a lock: one line without spaces, since it may be a link's target. */
export const holderText = ({ token, pid, began, place, since }: LockHolder): string =>
  [token, pid, began, since, place].join(SEPARATOR);

/** Parses the text of a lock; undefined if it is torn or invalid. */
export function readHolder(text: string): LockHolder | undefined {
  const [token, pid, began, since, ...place] = text.split(SEPARATOR);
  // The token becomes part of a file name, so nothing but what trdr writes may pass.
  if (!token || !/^[\w-]{1,80}$/.test(token)) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(pid ?? '') || !/^\d{1,15}$/.test(since ?? '')) return undefined;
  if (began === undefined || place.length === 0) return undefined;
  return { token, pid: Number(pid), began, since: Number(since), place: place.join(SEPARATOR) };
}

/** Whether a text may be the beginning of a lock's. */
export const isTorn = (text: string): boolean => /^[\w-]{0,80}(\|\d*){0,3}\0*$/.test(text);

function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** A process's state and its beginning, as Linux tells them; both empty elsewhere. */
function statusOf(pid: number): { state: string; began: string } {
  const status = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The second field, the name, may hold spaces and brackets.
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

let taken = 0;
let began: string | undefined;
/** This process as the holder of a lock taken at `now`. */
export function holderNow(now: number): LockHolder {
  began ??= statusOf(process.pid).began;
  const token = `${process.pid}-${now.toString(36)}-${(taken++).toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
  return { token, pid: process.pid, began, place: placeOf(), since: now };
}

/**
 * Locks of other machines and containers count as left behind when they were not touched for this long:
 * enough for clocks that disagree.
 */
export const UNTOUCHED_MS = 300_000;

/** True where a holder is known to be gone. `touched` is when its lock was last touched, epoch ms. */
export function isGone(holder: LockHolder | undefined, touched: number, now: number): boolean {
  // Of a torn lock, or one from elsewhere, only its own heartbeat tells.
  if (holder === undefined || holder.place !== placeOf()) return now - touched > UNTOUCHED_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Anything else says that somebody has the number: perhaps another user, and then not the holder.
    if (errno(error) === 'ESRCH') return true;
  }
  // The pid exists but is a zombie, or was reused.
  const { state, began } = statusOf(holder.pid);
  return state === 'Z' || state === 'X' || (holder.began !== '' && began !== '' && began !== holder.began);
}
