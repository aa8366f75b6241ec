import type { EndpointId } from '../../contract/endpoints.ts';

/** An entry of the request log. */
export interface LogEntry {
  readonly time: number;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /**
   * The endpoint; null for an unknown path. An entry with `ws` is a handshake, or a charge for an open
   * connection.
   */
  readonly endpoint: EndpointId | 'ws' | 'openapi' | null;
  /** The id of the key, which does not reveal the key. */
  readonly key: string | null;
  readonly ip: string;
  /** The HTTP status; 0 if no response was sent. */
  readonly status: number;
  readonly code: string | null;
  readonly cu: number;
  readonly reveals: number;
  /** Processing time in milliseconds. */
  readonly ms: number;
}

/** At twice this number, the log drops its older half. */
const MIN_ENTRIES = 20_000;

/** The latest requests: at least the last 20,000. */
export interface RequestLog {
  add(entry: LogEntry): void;
  readonly entries: readonly LogEntry[];
  /** The number of all requests since the sandbox was started. */
  readonly count: number;
}

export function createRequestLog(): RequestLog {
  let entries: LogEntry[] = [];
  let count = 0;
  return {
    add(entry) {
      count++;
      entries.push(entry);
      if (entries.length > 2 * MIN_ENTRIES) entries = entries.slice(-MIN_ENTRIES);
    },
    get entries() {
      return entries;
    },
    get count() {
      return count;
    },
  };
}
