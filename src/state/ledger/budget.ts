import { closeSync, fstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { fileFailure, inWords, openRegular, readAt } from '../../base/files.ts';
import { isRunning } from '../../base/is-running.ts';
import { withLock } from '../../base/lock.ts';
import { periodsAt } from '../../base/periods.ts';
import {
  type BudgetSetting,
  type BudgetState,
  budgetRefusal,
  budgetSettingNames,
  budgetSettings,
  leftIn,
  type Measure,
} from '../../contract/budget.ts';
import type { LedgerEntry } from '../../contract/ports/ledger.ts';
import { CallReader, ledgerFiles, ledgerFolder } from './lines.ts';

/** The budgets of a profile, by their settings; undefined means no limit. */
export type Caps = Readonly<Partial<Record<BudgetSetting, number | undefined>>>;

const measures = ['units', 'reveals'] as const;

/** The budgets of a profile, which all processes of this machine share. */
export interface Budget {
  /**
   * Calls `write` with the line of a call if the budgets cover `most`. If that is not known, any
   * budget rejects the call. Holds a lock meanwhile, so that concurrent processes cannot exceed a
   * budget together.
   */
  admit(call: AdmittedCall, caps: Caps, signal?: AbortSignal): Promise<void>;
  states(caps: Caps): Promise<BudgetState[]>;
  /** What the profile has spent; also known without a budget. */
  spending(): Promise<Readonly<Record<BudgetSetting, Readonly<Spending>>>>;
}

interface AdmittedCall {
  /** The maximum cost in CU; undefined if it is not known. */
  readonly most: number | undefined;
  /** The wallets that it may reveal; undefined if that is not known. */
  readonly reveals: number | undefined;
  /** The line of the ledger. */
  readonly line: string;
  readonly write: (line: string) => void;
}

/** Opens the budgets of a profile. `dir` is the state folder. */
export function createBudget(
  dir: string | undefined,
  profile: string,
  clock: Pick<Clock, 'now' | 'sleep'>,
): Budget {
  const tally = new Tally(profile);

  /**
   * Runs work with current sums and under a lock, so that no other process admits a call at the
   * same time.
   */
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
    budgetSettingNames.flatMap((setting) => {
      const limit = caps[setting];
      if (limit === undefined) return [];
      const budget = budgetSettings[setting];
      return [{ ...budget, scope: 'profile', name: profile, limit, ...tally.sum(budget, now) }];
    });

  return {
    admit: ({ most, reveals, line, write }, caps, signal) =>
      exclusively((now) => {
        const needs = { units: most, reveals };
        const refused = statesAt(caps, now).find(
          ({ limit, spent, lost, reserved, measure = 'units' }) => {
            const need = needs[measure];
            return need === undefined || (need > 0 && spent + lost + reserved + need > limit);
          },
        );
        if (refused)
          throw budgetRefusal(
            { ...refused, left: leftIn(refused) },
            needs[refused.measure ?? 'units'],
            now,
          );
        write(line);
        tally.begin(line);
      }, signal),
    states: (caps) => exclusively((now) => statesAt(caps, now)),
    spending: () => exclusively((now) => sumsOf(tally, now)),
  };
}

const sumsOf = (tally: Tally, now: number) => ({
  budgetDay: tally.sum(budgetSettings.budgetDay, now),
  budgetMonth: tally.sum(budgetSettings.budgetMonth, now),
  budgetDayReveals: tally.sum(budgetSettings.budgetDayReveals, now),
  budgetMonthReveals: tally.sum(budgetSettings.budgetMonthReveals, now),
});

const unchecked = () =>
  new Failure('local', 'cannot check the budget: no home directory for the state folder', {
    code: 'NO_STATE',
    hint: 'set TRDR_STATE_DIR to a folder that you own',
  });

/**
 * The longest time for which a call can be in flight. An older one without an outcome counts as
 * lost, even if a process has its pid, because pids are reused.
 */
const IN_FLIGHT_MS = 5 * 60_000;
const NEWLINE = 10;

/** What a profile has spent in a period, in CU or reveals. */
interface Spending {
  spent: number;
  /** The maximum cost of calls whose answers were lost, including those of processes that died. */
  lost: number;
  /** The maximum cost of calls that are in flight. */
  reserved: number;
}

/** A file of the ledger, of which the first `offset` bytes were read. */
interface ReadFile {
  readonly inode: number;
  offset: number;
  /** The sums by measure and day: `reveals 2026-11-22`. */
  readonly days: Map<string, { spent: number; lost: number }>;
}

/**
 * What one profile has spent. Each refresh reads only the lines that were appended since the last
 * one.
 */
class Tally {
  readonly #profile: string;
  readonly #files = new Map<string, ReadFile>();
  /**
   * The calls of all files, because a call in flight may end in another file if its own was deleted
   * meanwhile.
   */
  readonly #calls = new CallReader();
  /**
   * The cost of each day that was in a file when it was deleted or cut. It stays counted, as lost:
   * the CU were charged, and deleting a file must not make room in a budget.
   */
  readonly #removed = new Map<string, number>();

  constructor(profile: string) {
    this.#profile = profile;
  }

  /** Counts a call of this process, even if its file is deleted before it is read. */
  begin(line: string): void {
    this.#calls.read(line);
  }

  /** Reads what was appended to the files of a month. Throws if a file cannot be read. */
  refresh(dir: string, month: string): void {
    const paths = ledgerFiles(dir, month);
    for (const path of this.#files.keys())
      if (basename(path).startsWith(month) && !paths.includes(path)) this.#replace(path);
    for (const path of paths) this.#readNew(path);
  }

  sum({ period, measure }: SummedBudget, now: number): Spending {
    const current = `${measure} ${periodsAt(now)[period]}`;
    const total: Spending = { spent: 0, lost: 0, reserved: 0 };
    for (const [day, cost] of this.#removed) if (day.startsWith(current)) total.lost += cost;
    for (const { days } of this.#files.values()) {
      for (const [day, { spent, lost }] of days) {
        if (!day.startsWith(current)) continue;
        total.spent += spent;
        total.lost += lost;
      }
    }
    this.#addOpenCalls(total, measure, current, now);
    return total;
  }

  /** Adds the calls without an outcome: they may be in flight, or their process has died. */
  #addOpenCalls(total: Spending, measure: Measure, current: string, now: number): void {
    const living = new Map<number, boolean>();
    for (const [id, entry] of this.#calls.open) {
      const { time } = entry;
      if (!this.#isOwn(entry) || !dayOf(measure, time).startsWith(current)) continue;
      const { lost } = costIn(measure, entry);
      const pid = processOf(id);
      if (!living.has(pid)) living.set(pid, pid > 0 && isRunning(pid));
      const isInFlight = living.get(pid) && Math.abs(now - time) < IN_FLIGHT_MS;
      if (isInFlight) total.reserved += lost;
      else total.lost += lost;
    }
  }

  #readNew(path: string): void {
    const fd = openRegular(path);
    try {
      const { ino, size } = fstatSync(fd);
      const before = this.#files.get(path);
      const isSame = before?.inode === ino && size >= before.offset;
      const file: ReadFile = isSame ? before : { inode: ino, offset: 0, days: new Map() };
      const bytes = readAt(fd, file.offset, size - file.offset);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      for (const line of bytes.toString('utf8', 0, end).split('\n')) this.#addLine(file, line);
      file.offset += end;
      if (!isSame) this.#replace(path, file);
    } catch (error) {
      throw fileFailure('check the budget in', path, error);
    } finally {
      closeSync(fd);
    }
  }

  #addLine({ days }: ReadFile, line: string): void {
    const entry = this.#calls.read(line);
    if (!entry || !this.#isOwn(entry)) return;
    for (const measure of measures) {
      const day = dayOf(measure, entry.time);
      const { spent, lost } = days.get(day) ?? { spent: 0, lost: 0 };
      const cost = costIn(measure, entry);
      days.set(day, { spent: spent + cost.spent, lost: lost + cost.lost });
    }
  }

  /** Takes what a file contains now, and keeps the cost of what it contained before. */
  #replace(path: string, next?: ReadFile): void {
    for (const [day, { spent, lost }] of this.#files.get(path)?.days ?? []) {
      const still = next?.days.get(day) ?? { spent: 0, lost: 0 };
      const gone = Math.max(0, spent + lost - still.spent - still.lost);
      this.#removed.set(day, (this.#removed.get(day) ?? 0) + gone);
    }
    if (next) this.#files.set(path, next);
    else this.#files.delete(path);
  }

  /** Whether an entry is of this profile, and has a time of which the day is known. */
  #isOwn({ profile, time }: LedgerEntry): boolean {
    return profile === this.#profile && Math.abs(time) <= 8.64e15;
  }
}

type SummedBudget = (typeof budgetSettings)[BudgetSetting];

const dayOf = (measure: Measure, time: number): string => `${measure} ${periodsAt(time).day}`;

/** What a call has certainly cost, and may have cost in addition. */
const costIn = (measure: Measure, { cu, cuAtMost, reveals, revealsAtMost }: LedgerEntry) =>
  measure === 'units'
    ? { spent: cu, lost: cuAtMost ?? 0 }
    : { spent: reveals ?? 0, lost: revealsAtMost ?? 0 };

/** The pid of the process that sent a call, which is the first part of the call's id. */
const processOf = (id: string): number => Number.parseInt(id.split('-')[0] ?? '', 36) || 0;
