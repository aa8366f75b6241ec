import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { fileFailure, realPath, statsOf, writeAll } from '../base/files.ts';
import { replaceFile, writeAtomic } from '../base/replace-file.ts';
import type { Ledger } from '../contract/ports.ts';
import type { Io } from './io.ts';

/** What a run has written to the ledger: the number of calls, and their certain and maximum cost in CU. */
export interface Recorded {
  readonly calls: number;
  readonly cu: number;
  readonly cuAtMost: number;
}

export interface Receipt extends Recorded {
  readonly command: string;
  readonly found?: number | undefined;
  readonly missing?: number | undefined;
  readonly failed?: number | undefined;
  readonly left?: number | undefined;
}

export function sumLedger(ledger: Ledger): { readonly ledger: Ledger; readonly recorded: () => Recorded } {
  let [calls, cu, cuAtMost] = [0, 0, 0];
  return {
    recorded: () => ({ calls, cu, cuAtMost }),
    ledger: {
      ...ledger,
      async begin(call, signal) {
        const recorded = await ledger.begin(call, signal);
        const { most = 0 } = call;
        calls++;
        cuAtMost += most;
        let open = true;
        const close = (then: () => void) => {
          if (open) then();
          open = false;
        };
        return {
          settle(cost) {
            close(() => {
              cu += cost.cu;
              cuAtMost += cost.cu + (cost.cuAtMost ?? 0) - most;
            });
            return recorded.settle(cost);
          },
          lose(end) {
            close(() => {});
            return recorded.lose(end);
          },
          release() {
            close(() => {
              calls--;
              cuAtMost -= most;
            });
            return recorded.release();
          },
        };
      },
    },
  };
}

/** Returns a function that removes an old receipt, which a killed run must not leave behind. */
export function openReceipt(io: Io, path: string, receipt: () => Receipt): () => void {
  const stats = path === '-' ? undefined : statsOf(path);
  const isOther = stats?.isFile() === false && !stats.isDirectory();
  const inWords = (work: () => void) => {
    try {
      work();
    } catch (error) {
      throw fileFailure('write', path, error);
    }
  };
  io.atExit.add((exit) => {
    const line = `${JSON.stringify({ ...receipt(), exit })}\n`;
    if (path === '-') io.stderr.write(line);
    else inWords(() => (isOther ? writeTo(path, line) : writeAtomic(path, line, { private: false })));
  });
  return () => {
    if (path === '-' || isOther) return;
    inWords(() => {
      replaceFile(path).discard();
      rmSync(realPath(path), { force: true });
    });
  };
}

function writeTo(path: string, line: string): void {
  // Without O_NONBLOCK, opening a FIFO waits for a reader.
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    writeAll(fd, Buffer.from(line));
  } finally {
    closeSync(fd);
  }
}
