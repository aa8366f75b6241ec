import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { once, quietly } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import { appendLines, fileFailure } from '../../base/files.ts';
import { readLines } from '../../base/lines.ts';
import { periodsAt } from '../../base/periods.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import type { Ledger, LedgerEntry } from '../../contract/ports/ledger.ts';
import type { Caps } from './budget.ts';
import {
  CallReader,
  dayFile,
  endText,
  entryText,
  ledgerFiles,
  ledgerFolder,
  revealsOf,
} from './lines.ts';

// The pid comes first, so that a budget can check whether the process of a call in flight is still
// alive.
const idPrefix = `${process.pid.toString(36)}-${process.hrtime.bigint().toString(36)}`;
let calls = 0;

/** Who makes the calls. */
type Caller = Pick<LedgerEntry, 'command' | 'profile' | 'host' | 'agent'>;

interface LedgerRules {
  /** The budgets. */
  readonly caps?: (() => Caps | undefined) | undefined;
  /** Whether a call that cannot be recorded is sent anyway, because its CU are not real. */
  readonly mayLack?: boolean;
}

/**
 * Opens the ledger of this machine: a file for each UTC day. A call is written with its maximum
 * cost before it is sent, so that this cost stays if the process dies.
 */
export function openLedger(
  dir: string | undefined,
  caller: Caller,
  clock: Pick<Clock, 'now' | 'sleep'>,
  notice?: (text: string) => void,
  { caps, mayLack = false }: LedgerRules = {},
): Ledger {
  const file = new LedgerFile(dir, clock, notice);
  const { command, profile, agent } = caller;
  const host = (caller.host || hostname()).slice(0, 100);
  const budget = once(async () => {
    const { createBudget } = await import('./budget.ts');
    return createBudget(dir, profile, clock);
  });

  return {
    async begin({ endpoint, most, reveals }, signal) {
      const id = `${idPrefix}-${(calls++).toString(36)}`;
      const time = clock.now();
      const { day } = periodsAt(time);
      const bound = {
        ...(most === undefined ? { unpriced: true } : { cuAtMost: most }),
        reveals: 0,
        ...(reveals !== undefined && reveals > 0 && { revealsAtMost: reveals }),
      };
      const who = { command, profile, host, agent };
      const line = entryText({ time, ...who, endpoint, status: null, cu: 0, ...bound }, id);
      const limits = caps?.();
      if (limits !== undefined) {
        const write = (text: string) => file.write(day, text);
        await (await budget()).admit({ most, reveals, line, write }, limits, signal);
      } else if (mayLack) file.append(day, line);
      else file.begin(day, line);
      const end = once((text: string) => file.append(day, text));
      return {
        settle: async (cost) => end(endText(id, { reveals: 0, ...cost })),
        lose: async ({ status = null, requestId } = {}) =>
          end(endText(id, { status, cu: 0, ...bound, requestId })),
        release: async () => end(endText(id)),
      };
    },
    limits: async () => JSON.stringify(caps?.() ?? null),
    async budgets() {
      const limits = caps?.();
      return limits ? (await budget()).states(limits) : [];
    },
  };
}

/** The files of the ledger in the state folder `dir`. */
class LedgerFile {
  readonly #dir: string | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #notice: ((text: string) => void) | undefined;
  #isWarned = false;

  constructor(
    dir: string | undefined,
    clock: Pick<Clock, 'now'>,
    notice: ((text: string) => void) | undefined,
  ) {
    this.#dir = dir;
    this.#clock = clock;
    this.#notice = notice;
  }

  /** Writes the line of a call, which must not be sent otherwise. */
  begin(day: string, line: string): void {
    const dir = this.#dir;
    if (dir === undefined) {
      this.append(day, line);
      return;
    }
    try {
      this.write(day, line);
    } catch (error) {
      throw fileFailure('record paid calls in', ledgerFolder(dir), error);
    }
  }

  /** Writes a line, or warns once that this is not possible. */
  append(day: string, line: string): void {
    if (this.#dir === undefined) {
      this.#warn('there is no home directory for the state folder');
      return;
    }
    try {
      this.write(day, line);
    } catch (error) {
      this.#warn(fileFailure('write in', ledgerFolder(this.#dir), error).message);
    }
  }

  /** Writes a line, or throws. */
  write(day: string, line: string): void {
    const dir = this.#dir;
    if (dir === undefined) return;
    const isNewDay = appendLines(dayFile(dir, day), line).before === 0;
    // An error leaves the files of past days larger than necessary, but correct.
    if (isNewDay) quietly(() => sumOldDays(dir, this.#clock.now()));
  }

  #warn(why: string): void {
    if (!this.#isWarned) this.#notice?.(`cannot record what this run costs: ${why}`);
    this.#isWarned = true;
  }
}

const HOUR = 3_600_000;
/** Smaller files are not worth a sum. */
const LEAST_BYTES = 64 * 1024;

/**
 * Sums up the files of past days. No process writes to them any more, so they are replaced without
 * a lock.
 */
function sumOldDays(dir: string, now: number): void {
  const end = dayFile(dir, periodsAt(now - 48 * HOUR).day);
  for (const path of ledgerFiles(dir)) {
    if (path >= end || statSync(path).size < LEAST_BYTES) continue;
    writeAtomic(path, summed(readLines(path)), { sync: false });
  }
}

/**
 * One line per hour for calls that differ in time only, and whose cost is known exactly. All others
 * keep their lines.
 */
function summed(lines: Iterable<string>): string {
  const calls = new CallReader();
  const hours = new Map<string, LedgerEntry>();
  for (const line of lines) {
    const entry = calls.read(line);
    if (!entry) continue;
    const { time, cu, cuAtMost, unpriced, calls: count = 1, requestId: _, ...call } = entry;
    const { reveals, revealsAtMost, ...rest } = call;
    if (cuAtMost || unpriced || revealsAtMost) {
      hours.set(`${hours.size}`, entry);
      continue;
    }
    const hour = { ...rest, time: Math.floor(time / HOUR) * HOUR };
    const { command, profile, host, agent, endpoint, status } = rest;
    const name = JSON.stringify([hour.time, command, profile, host, agent, endpoint, status]);
    const sum = hours.get(name);
    hours.set(name, {
      ...hour,
      cu: cu + (sum?.cu ?? 0),
      reveals: revealsOf({ reveals }, sum),
      calls: count + (sum?.calls ?? 0),
    });
  }
  return [
    ...[...hours.values()].map((entry) => entryText(entry)),
    ...[...calls.open].map(([id, entry]) => entryText(entry, id)),
  ].join('');
}
