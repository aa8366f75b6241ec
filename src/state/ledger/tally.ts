import { closeSync, fstatSync } from 'node:fs';
import { errno, fileFailure, isAbsent, openRegular, readAt } from '../../base/files.ts';
import { type Period, periodsAt } from '../../base/periods.ts';
import type { LedgerEntry } from '../../contract/ports.ts';
import { createCallReader } from './lines.ts';

/** What a profile has spent in a period. */
interface Spending {
  readonly spent: number;
  /** The maximum cost of calls whose answers were lost, including those of processes that died. */
  readonly lost: number;
  /** The maximum cost of calls that may be in flight. */
  readonly reserved: number;
}

/** The maximum duration of a call. An older call without an outcome counts as lost. */
const IN_FLIGHT_MS = 5 * 60_000;
const NEWLINE = 10;

/**
 * What one profile has spent in a month. Each refresh reads only the lines that were appended to the ledger
 * since the last refresh.
 */
export function createTally(profile: string) {
  let file: { readonly path: string; readonly inode: number; offset: number } | undefined;
  let days = new Map<string, Pick<Spending, 'spent' | 'lost'>>();
  let calls = createCallReader();
  // The cost of each day that was in the file when it was deleted. A budget must not forget it.
  let missing = new Map<string, number>();
  let isGone = false;

  const totals = () => {
    const total = new Map(missing);
    for (const [day, { spent, lost }] of days) total.set(day, (total.get(day) ?? 0) + spent + lost);
    return total;
  };

  const forget = () => {
    file = undefined;
    days = new Map();
    calls = createCallReader();
  };

  const isOwn = (entry: LedgerEntry) => entry.profile === profile && Math.abs(entry.time) <= 8.64e15;

  const add = ({ time, cu, cuAtMost = 0 }: LedgerEntry) => {
    const { day } = periodsAt(time);
    const sum = days.get(day) ?? { spent: 0, lost: 0 };
    days.set(day, { spent: sum.spent + cu, lost: sum.lost + cuAtMost });
  };

  return {
    /** Reads the new lines of the ledger file of a month. Throws if the file exists and cannot be read. */
    refresh(path: string): void {
      let fd: number;
      try {
        fd = openRegular(path);
      } catch (error) {
        if (!isAbsent(error)) throw fileFailure('check the budget in', path, error);
        missing = totals();
        isGone = true;
        forget();
        return;
      }
      try {
        const { ino, size } = fstatSync(fd);
        const isSame = file?.path === path && file.inode === ino && size >= file.offset;
        const before = isSame || isGone ? undefined : totals();
        if (!isSame) forget();
        file = { path, inode: ino, offset: isSame ? (file?.offset ?? 0) : 0 };
        const bytes = readAt(fd, file.offset, size - file.offset);
        const end = bytes.lastIndexOf(NEWLINE) + 1;
        for (const line of bytes.toString('utf8', 0, end).split('\n')) {
          const entry = calls.read(line);
          if (entry && isOwn(entry)) add(entry);
        }
        file.offset += end;
        isGone = false;
        // A compaction writes a new file with the same cost; a new file after a deletion has less.
        if (before) {
          missing = new Map();
          const now = totals();
          for (const [day, most] of before) missing.set(day, Math.max(0, most - (now.get(day) ?? 0)));
        }
      } catch (error) {
        forget();
        throw fileFailure('check the budget in', path, error);
      } finally {
        closeSync(fd);
      }
    },
    sum(period: Period, now: number): Spending {
      const current = periodsAt(now)[period];
      const total = { spent: 0, lost: 0, reserved: 0 };
      for (const [day, { spent, lost }] of days) {
        if (!day.startsWith(current)) continue;
        total.spent += spent;
        total.lost += lost;
      }
      for (const [day, cost] of missing) if (day.startsWith(current)) total.lost += cost;
      const living = new Map<number, boolean>();
      for (const [id, entry] of calls.open) {
        const { time, cuAtMost = 0 } = entry;
        if (!isOwn(entry) || !periodsAt(time).day.startsWith(current)) continue;
        const pid = processOf(id);
        if (!living.has(pid)) living.set(pid, isAlive(pid));
        // A call is in flight only if its process is alive and the call is recent, because the pid may have
        // been reused.
        const fresh = living.get(pid) === true && Math.abs(now - time) < IN_FLIGHT_MS;
        if (!fresh) total.lost += cuAtMost;
        else total.reserved += cuAtMost;
      }
      return total;
    },
  };
}

/** The pid of the process that sent a call, which is the first part of the call's id. */
const processOf = (id: string): number => Number.parseInt(id.split('-')[0] ?? '', 36) || 0;

function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return errno(error) === 'EPERM';
  }
}
