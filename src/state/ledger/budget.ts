import { closeSync, fstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { errno, fileFailure, inWords, openRegular, readAt } from '../../base/files.ts';
import { withLock } from '../../base/lock.ts';
import { type Period, periodsAt } from '../../base/periods.ts';
import { type BudgetState, budgetRefusal, leftIn } from '../../contract/budget.ts';
import type { LedgerEntry } from '../../contract/ports/ledger.ts';
import { createCallReader, ledgerFiles, ledgerFolder } from './lines.ts';

/** In CU; undefined means no limit. */
export type Caps = { readonly [P in Period]: number | undefined };

const periods = ['day', 'month'] as const;

/** Opens the budgets of a profile, which all processes of this machine share. `dir` is the state folder. */
export function createBudget(
  dir: string | undefined,
  profile: string,
  clock: Pick<Clock, 'now' | 'sleep'>,
) {
  const tally = createTally(profile);

  /** Holds a lock, so that no other process admits a call at the same time. */
  async function exclusively<T>(work: (now: number) => T, signal?: AbortSignal): Promise<T> {
    if (dir === undefined) throw unchecked();
    const now = clock.now();
    const folder = ledgerFolder(dir);
    try {
      return await withLock(
        join(folder, 'budget.lock'),
        () => {
          tally.refresh(dir, periodsAt(now).month);
          return work(now);
        },
        { signal, sleep: clock.sleep },
      );
    } catch (error) {
      throw inWords('check the budget in', folder, error);
    }
  }

  const statesAt = (caps: Caps, now: number): BudgetState[] =>
    periods.flatMap((period) => {
      const limit = caps[period];
      return limit === undefined
        ? []
        : [{ period, scope: 'profile' as const, name: profile, limit, ...tally.sum(period, now) }];
    });

  return {
    /** Calls `write` with the line of a call if the budgets cover `most`. If that is not known, any budget rejects the call. */
    admit: (
      caps: Caps,
      most: number | undefined,
      line: string,
      write: (line: string) => void,
      signal?: AbortSignal,
    ): Promise<void> =>
      exclusively((now) => {
        const refused = statesAt(caps, now).find(
          ({ limit, spent, lost, reserved }) =>
            most === undefined || spent + lost + reserved + most > limit,
        );
        if (refused) throw budgetRefusal({ ...refused, left: leftIn(refused) }, most, now);
        write(line);
        tally.begin(line);
      }, signal),
    states: (caps: Caps): Promise<BudgetState[]> => exclusively((now) => statesAt(caps, now)),
    spending: () =>
      exclusively((now) => ({ day: tally.sum('day', now), month: tally.sum('month', now) })),
  };
}

const unchecked = () =>
  new Failure('local', 'cannot check the budget: no home directory for the state folder', {
    code: 'NO_STATE',
    hint: 'set TRDR_STATE_DIR to a folder that you own',
  });

/** An older call without an outcome counts as lost. */
const IN_FLIGHT_MS = 5 * 60_000;
const NEWLINE = 10;

interface Source {
  readonly inode: number;
  offset: number;
  readonly days: Map<string, { spent: number; lost: number }>;
}

/** What one profile has spent in a month. Each refresh reads only the lines that were appended since the last one. */
function createTally(profile: string) {
  const sources = new Map<string, Source>();
  // Of all files: a call in flight may end in another file, if its own was deleted meanwhile.
  const calls = createCallReader();
  // The cost of each day that was in a file when it was deleted or cut. A budget must not forget it.
  const missing = new Map<string, number>();

  function replace(path: string, next?: Source): void {
    for (const [day, { spent, lost }] of sources.get(path)?.days ?? []) {
      const still = next?.days.get(day) ?? { spent: 0, lost: 0 };
      const gone = Math.max(0, spent + lost - still.spent - still.lost);
      missing.set(day, (missing.get(day) ?? 0) + gone);
    }
    if (next) sources.set(path, next);
    else sources.delete(path);
  }

  const isOwn = (entry: LedgerEntry) =>
    entry.profile === profile && Math.abs(entry.time) <= 8.64e15;

  function readNew(path: string): void {
    const fd = openRegular(path);
    try {
      const { ino, size } = fstatSync(fd);
      const known = sources.get(path);
      const isSame = known?.inode === ino && size >= known.offset;
      const source: Source = isSame ? known : { inode: ino, offset: 0, days: new Map() };
      const bytes = readAt(fd, source.offset, size - source.offset);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      for (const line of bytes.toString('utf8', 0, end).split('\n')) {
        const entry = calls.read(line);
        if (!entry || !isOwn(entry)) continue;
        const { day } = periodsAt(entry.time);
        const { spent, lost } = source.days.get(day) ?? { spent: 0, lost: 0 };
        source.days.set(day, { spent: spent + entry.cu, lost: lost + (entry.cuAtMost ?? 0) });
      }
      source.offset += end;
      if (!isSame) replace(path, source);
    } catch (error) {
      throw fileFailure('check the budget in', path, error);
    } finally {
      closeSync(fd);
    }
  }

  return {
    /** A call of this process, which counts even if its file is deleted before it is read. */
    begin(line: string): void {
      calls.read(line);
    },
    /** Throws if a file cannot be read. */
    refresh(dir: string, month: string): void {
      const paths = ledgerFiles(dir, month);
      for (const path of sources.keys())
        if (basename(path).startsWith(month) && !paths.includes(path)) replace(path);
      for (const path of paths) readNew(path);
    },
    sum(period: Period, now: number) {
      const current = periodsAt(now)[period];
      const total = { spent: 0, lost: 0, reserved: 0 };
      for (const [day, cost] of missing) if (day.startsWith(current)) total.lost += cost;
      const living = new Map<number, boolean>();
      for (const { days } of sources.values()) {
        for (const [day, { spent, lost }] of days) {
          if (!day.startsWith(current)) continue;
          total.spent += spent;
          total.lost += lost;
        }
      }
      for (const [id, entry] of calls.open) {
        const { time, cuAtMost = 0 } = entry;
        if (!isOwn(entry) || !periodsAt(time).day.startsWith(current)) continue;
        const pid = processOf(id);
        if (!living.has(pid)) living.set(pid, isAlive(pid));
        // An old call is not in flight even if a process has its pid, because pids are reused.
        if (living.get(pid) && Math.abs(now - time) < IN_FLIGHT_MS) total.reserved += cuAtMost;
        else total.lost += cuAtMost;
      }
      return total;
    },
  };
}

/** The first part of a call's id. */
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
