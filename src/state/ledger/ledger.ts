import { hostname } from 'node:os';
import { appendLines, ensureFolder, fileFailure, isAbsent } from '../../base/files.ts';
import type { CallCost, Ledger, LedgerEntry, PaidCall, Reservation } from '../../contract/ports.ts';
import { compactLedger } from './compact-ledger.ts';
import { endText, entryText } from './lines.ts';
import { ledgerFolder, monthFile, monthOf } from './months.ts';

/** Where the ledger is, and what its entries name. */
export interface LedgerOptions {
  /** The state folder, if any. */
  readonly dir: string | undefined;
  readonly command: string;
  readonly profile: string;
  /** The name of this machine. */
  readonly host?: string | undefined;
  readonly now: () => number;
  /** Called once if the ledger cannot be written. */
  readonly notice?: ((text: string) => void) | undefined;
}

/** Files are checked for compaction at the first call of a process, and after this many. */
const COMPACT_EVERY = 1_000;

// Unique among all calls of a machine: processes differ in pid and start time, and count their calls.
const mine = `${process.pid.toString(36)}-${Math.round(performance.timeOrigin * 1_000).toString(36)}`;
let calls = 0;

/**
 * Opens the ledger for writing: one file per UTC month. Each call is written before it is sent, with its maximum
 * cost, so that a process that dies leaves the bound behind. A ledger that cannot be written never fails a run.
 */
export function openLedger(options: LedgerOptions): Ledger {
  const { dir, command, profile, now, notice } = options;
  const host = (options.host || hostname()).slice(0, 100);
  let written = 0;
  let told = false;
  const tell = (why: string) => {
    if (!told) notice?.(`cannot record what this run costs: ${why}`);
    told = true;
  };

  function append(month: string, line: string): void {
    if (dir === undefined) {
      tell('no home directory for the state folder');
      return;
    }
    const path = monthFile(dir, month);
    try {
      try {
        // If the file was replaced by a compaction meanwhile, append again; the id identifies a duplicate.
        if (appendLines(path, line).gone) appendLines(path, line);
      } catch (error) {
        if (!isAbsent(error)) throw error;
        ensureFolder(ledgerFolder(dir));
        appendLines(path, line);
      }
      if (written++ % COMPACT_EVERY === 0) compactLedger(dir, now());
    } catch (error) {
      tell(fileFailure('write in', ledgerFolder(dir), error).message);
    }
  }

  return {
    async begin(call: PaidCall): Promise<Reservation> {
      const { endpoint, most } = call;
      const id = `${mine}-${(calls++).toString(36)}`;
      const time = now();
      const month = monthOf(time);
      const bound = most === undefined ? { unpriced: true } : { cuAtMost: most };
      const entry: LedgerEntry = { time, command, profile, host, endpoint, status: null, cu: 0, ...bound };
      append(month, entryText(entry, id));
      let open = true;
      const close = (line: string) => {
        if (open) append(month, line);
        open = false;
      };
      return {
        settle: async (cost: CallCost) => close(endText(id, { released: false, ...cost })),
        lose: async ({ status = null, requestId }) =>
          close(endText(id, { released: false, status, cu: 0, ...bound, requestId })),
        release: async () => close(endText(id, { released: true, status: null, cu: 0 })),
      };
    },
  };
}
