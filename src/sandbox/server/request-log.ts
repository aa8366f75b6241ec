import type { EndpointId } from '../../contract/endpoints.ts';

/** One line of the sandbox's request log. */
export interface LogEntry {
  readonly time: number;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** Null for a path that leads nowhere. `ws` lines are the handshake and each later charge of a socket. */
  readonly endpoint: EndpointId | 'ws' | 'openapi' | null;
  /** The key's id, not its text. */
  readonly key: string | null;
  readonly ip: string;
  /** 0 where no answer was written. */
  readonly status: number;
  readonly code: string | null;
  readonly cu: number;
  readonly reveals: number;
  /** Milliseconds of processing. */
  readonly ms: number;
}

const KEPT = 20_000;

/** What happened, the newest 20,000 at least. */
export interface Log {
  add(entry: LogEntry): void;
  readonly entries: readonly LogEntry[];
  readonly count: number;
}

export function createLog(): Log {
  let entries: LogEntry[] = [];
  let count = 0;
  return {
    add(entry) {
      count++;
      entries.push(entry);
      if (entries.length > 2 * KEPT) entries = entries.slice(-KEPT);
    },
    get entries() {
      return entries;
    },
    get count() {
      return count;
    },
  };
}
