import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { once, quietly } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import { appendLines, ensureFolder, fileFailure, isAbsent } from '../../base/files.ts';
import { readLines } from '../../base/lines.ts';
import { periodsAt } from '../../base/periods.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import type { CallCost, Ledger, LedgerEntry, PaidCall } from '../../contract/ports/ledger.ts';
import type { Caps } from './budget.ts';
import {
  createCallReader,
  dayFile,
  endText,
  entryText,
  ledgerFiles,
  ledgerFolder,
} from './lines.ts';

// The pid comes first, so that a budget can check whether the process of a call in flight is still alive.
const idPrefix = `${process.pid.toString(36)}-${process.hrtime.bigint().toString(36)}`;
let calls = 0;

/** Each call is written with its maximum cost before it is sent, so that the cost stays if the process dies. */
export function openLedger(
  dir: string | undefined,
  {
    command,
    profile,
    host: named,
    agent,
  }: Pick<LedgerEntry, 'command' | 'profile' | 'host' | 'agent'>,
  clock: Pick<Clock, 'now' | 'sleep'>,
  notice?: (text: string) => void,
  caps?: () => Caps | undefined,
): Ledger {
  const { now } = clock;
  const host = (named || hostname()).slice(0, 100);
  const budget = once(async () => {
    const { createBudget } = await import('./budget.ts');
    return createBudget(dir, profile, clock);
  });
  let isWarned = false;
  const warn = (why: string) => {
    if (!isWarned) notice?.(`cannot record what this run costs: ${why}`);
    isWarned = true;
  };

  function write(folder: string, day: string, line: string): void {
    const path = dayFile(folder, day);
    try {
      // An error leaves the files of past days larger than necessary, but correct.
      if (appendLines(path, line).before === 0) quietly(() => sumOldDays(folder, now()));
    } catch (error) {
      if (!isAbsent(error)) throw error;
      ensureFolder(ledgerFolder(folder));
      appendLines(path, line);
    }
  }

  function append(day: string, line: string): void {
    if (dir === undefined) {
      warn('there is no home directory for the state folder');
      return;
    }
    try {
      write(dir, day, line);
    } catch (error) {
      warn(fileFailure('write in', ledgerFolder(dir), error).message);
    }
  }

  async function record(
    day: string,
    line: string,
    most: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const limits = caps?.();
    // A ledger that cannot be written ends the run only if the run has a budget.
    if (limits === undefined) return append(day, line);
    const add = (text: string) => dir !== undefined && write(dir, day, text);
    await (await budget()).admit(limits, most, line, add, signal);
  }

  return {
    async begin({ endpoint, most }: PaidCall, signal?: AbortSignal) {
      const id = `${idPrefix}-${(calls++).toString(36)}`;
      const time = now();
      const { day } = periodsAt(time);
      const bound = most === undefined ? { unpriced: true } : { cuAtMost: most };
      const entry = {
        time,
        command,
        profile,
        host,
        agent,
        endpoint,
        status: null,
        cu: 0,
        ...bound,
      };
      await record(day, entryText(entry, id), most, signal);
      let open = true;
      const close = (line: string) => {
        if (open) append(day, line);
        open = false;
      };
      return {
        settle: async (cost: CallCost) => close(endText(id, cost)),
        lose: async ({ status = null, requestId } = {}) =>
          close(endText(id, { status, cu: 0, ...bound, requestId })),
        release: async () => close(endText(id)),
      };
    },
    limits: async () => JSON.stringify(caps?.() ?? null),
    async budgets() {
      const limits = caps?.();
      return limits ? (await budget()).states(limits) : [];
    },
  };
}

const HOUR = 3_600_000;
const LEAST_BYTES = 64 * 1024;

/** Sums up the files of past days. No process writes to them any more, so they are simply replaced. */
function sumOldDays(dir: string, now: number): void {
  const end = dayFile(dir, periodsAt(now - 48 * HOUR).day);
  for (const path of ledgerFiles(dir)) {
    // Only files of days: files of months are those of earlier versions.
    if (path.length !== end.length || path >= end || statSync(path).size < LEAST_BYTES) continue;
    writeAtomic(path, summed(readLines(path)), { sync: false });
  }
}

/** One line per hour for calls that differ in time only, and whose cost is known exactly. All others keep their lines. */
function summed(lines: Iterable<string>): string {
  const calls = createCallReader();
  const hours = new Map<string, LedgerEntry>();
  for (const line of lines) {
    const entry = calls.read(line);
    if (!entry) continue;
    const { time, cu, cuAtMost, unpriced, calls: count = 1, requestId: _, ...rest } = entry;
    if (cuAtMost || unpriced) {
      hours.set(`${hours.size}`, entry);
      continue;
    }
    const hour = { ...rest, time: Math.floor(time / HOUR) * HOUR };
    const { command, profile, host, agent, endpoint, status } = rest;
    const name = JSON.stringify([hour.time, command, profile, host, agent, endpoint, status]);
    const sum = hours.get(name);
    hours.set(name, { ...hour, cu: cu + (sum?.cu ?? 0), calls: count + (sum?.calls ?? 0) });
  }
  return [
    ...[...hours.values()].map((entry) => entryText(entry)),
    ...[...calls.open].map(([id, entry]) => entryText(entry, id)),
  ].join('');
}
