import { hostname } from 'node:os';
import { appendLines, ensureFolder, fileFailure, isAbsent } from '../../base/files.ts';
import type { CallCost, Ledger, LedgerEntry, PaidCall } from '../../contract/ports.ts';
import type { Budget, Caps } from './budget.ts';
import { compactLedger } from './compact-ledger.ts';
import { endText, entryText, ledgerFolder, monthFile, monthOf } from './lines.ts';

/** The folder of the ledger, the names that its entries contain, and its budgets. */
interface LedgerOptions {
  /** The state folder; undefined if there is none. */
  readonly dir: string | undefined;
  readonly command: string;
  readonly profile: string;
  /** The name of this machine. */
  readonly host?: string | undefined;
  /** The agent that runs the command. */
  readonly agent?: string | undefined;
  readonly now: () => number;
  /**
   * Returns the budgets of the profile as they are now; undefined if it has none. Without this option, calls are
   * recorded but not limited.
   */
  readonly caps?: (() => Caps | undefined) | undefined;
  /** Loads the code that checks budgets. */
  readonly budget?: (() => Promise<Budget>) | undefined;
  /** Called once if the ledger cannot be written. */
  readonly notice?: ((text: string) => void) | undefined;
}

/**
 * How many lines a process writes between two checks whether to compact the files. The first check is at the
 * first line.
 */
const COMPACT_EVERY = 1_000;

// The prefix of this process's call ids, from its pid and the time at which this file was loaded. The prefix and a counter make an id
// that is unique on the machine. The pid comes first, so that a budget can check whether the process of a
// call in flight is still alive.
const idPrefix = `${process.pid.toString(36)}-${process.hrtime.bigint().toString(36)}`;
let calls = 0;

/**
 * Opens the ledger for writing: one file per UTC month. Each call is written with its maximum cost before the
 * call is sent, so that this cost stays in the ledger if the process dies. If the ledger cannot be written,
 * the run fails only if it has a budget.
 */
export function openLedger(options: LedgerOptions): Ledger {
  const { dir, command, profile, agent, now, notice, caps } = options;
  const host = (options.host || hostname()).slice(0, 100);
  let written = 0;
  let isWarned = false;
  const warn = (why: string) => {
    if (!isWarned) notice?.(`cannot record what this run costs: ${why}`);
    isWarned = true;
  };

  /** Adds a line. Throws if the file cannot be written. */
  function write(folder: string, month: string, line: string): void {
    const path = monthFile(folder, month);
    try {
      // If a compaction replaced the file during the write, append the line again; readers recognize the
      // duplicate by its id.
      if (appendLines(path, line).gone) appendLines(path, line);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      ensureFolder(ledgerFolder(folder));
      appendLines(path, line);
    }
  }

  function append(month: string, line: string): void {
    if (dir === undefined) {
      warn('there is no home directory for the state folder');
      return;
    }
    try {
      write(dir, month, line);
      compact();
    } catch (error) {
      warn(fileFailure('write in', ledgerFolder(dir), error).message);
    }
  }

  function compact(): void {
    if (dir !== undefined && written++ % COMPACT_EVERY === 0) compactLedger(dir, now());
  }

  /** Records a call as soon as the budgets of the profile allow it. */
  async function record(
    month: string,
    line: string,
    most: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const limits = caps?.();
    if (limits === undefined || options.budget === undefined) return append(month, line);
    const budget = await options.budget();
    await budget.admit(limits, most, () => dir !== undefined && write(dir, month, line), signal);
    // Compact only after `admit` has released its lock, because the compaction needs the same lock.
    compact();
  }

  return {
    async begin({ endpoint, most }: PaidCall, signal?: AbortSignal) {
      const id = `${idPrefix}-${(calls++).toString(36)}`;
      const time = now();
      const month = monthOf(time);
      const bound = most === undefined ? { unpriced: true } : { cuAtMost: most };
      const entry: LedgerEntry = {
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
      await record(month, entryText(entry, id), most, signal);
      let open = true;
      const close = (line: string) => {
        if (open) append(month, line);
        open = false;
      };
      return {
        settle: async (cost: CallCost) => close(endText(id, { released: false, ...cost })),
        lose: async ({ status = null, requestId } = {}) =>
          close(endText(id, { released: false, status, cu: 0, ...bound, requestId })),
        release: async () => close(endText(id, { released: true, status: null, cu: 0 })),
      };
    },
    async budgets() {
      const limits = caps?.();
      return limits && options.budget ? (await options.budget()).states(limits) : [];
    },
  };
}
