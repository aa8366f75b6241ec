import { join } from 'node:path';
import { appendLines, ensureFolder, isAbsent } from '../base/files.ts';
import { parseObject } from '../base/json-object.ts';
import { readLines } from '../base/lines.ts';
import { sha256 } from '../base/sha256.ts';

/**
 * A difference between a response and the service description, and when it was last saved. A difference is saved at
 * most once a day.
 */
export interface SeenDifference {
  readonly call: string;
  /** The difference in words, such as `bio is missing`. */
  readonly text: string;
  readonly time: number;
}

/**
 * Where differences are saved, and for which service: each service may differ from the description in its own
 * way.
 */
export interface DifferenceOptions {
  /** The state folder; undefined if there is none. */
  readonly dir: string | undefined;
  readonly baseUrl: string;
  readonly now: () => number;
}

/**
 * Saves the differences from the service description, so that a later `trdr doctor` can list them without
 * sending a paid call.
 */
export interface DifferenceLog {
  note(call: string, text: string): void;
  list(): SeenDifference[];
}

const DAY_MS = 86_400_000;
/** Differences that were last saved longer ago than this are not listed. */
const LISTED_MS = 30 * DAY_MS;
/** The maximum number of differences that are saved for one service; no service has this many fields. */
const MOST = 1_000;

const fileIn = (dir: string) => join(dir, 'differences.ndjson');

export function openDifferences({ dir, baseUrl, now }: DifferenceOptions): DifferenceLog {
  // Compute the digest on first use, because most runs see no difference.
  let digest: string | undefined;
  const serviceId = () => {
    digest ??= sha256(baseUrl).slice(0, 16);
    return digest;
  };
  let known: Map<string, SeenDifference> | undefined;

  function load(): Map<string, SeenDifference> {
    if (known) return known;
    known = new Map();
    if (dir === undefined) return known;
    try {
      for (const line of readLines(fileIn(dir), 4_096)) {
        const seen = read(line, serviceId());
        if (seen && known.size < MOST) known.set(`${seen.call} ${seen.text}`, seen);
      }
    } catch {
      // Treat an unreadable list as empty: the run can continue, because only `trdr doctor` uses the list.
    }
    return known;
  }

  return {
    note(call, text) {
      const time = now();
      const all = load();
      const last = all.get(`${call} ${text}`);
      if (dir === undefined || all.size >= MOST || (last && time - last.time < DAY_MS)) return;
      all.set(`${call} ${text}`, { call, text, time });
      const line = `${JSON.stringify({ service: serviceId(), call, text, time })}\n`;
      try {
        try {
          appendLines(fileIn(dir), line);
        } catch (error) {
          if (!isAbsent(error)) throw error;
          ensureFolder(dir);
          appendLines(fileIn(dir), line);
        }
      } catch {
        // Ignore the error: the difference is also reported on stderr, and the run can continue without this
        // list.
      }
    },
    list: () => [...load().values()].filter(({ time }) => now() - time < LISTED_MS),
  };
}

function read(line: string, service: string): SeenDifference | undefined {
  const { call, text, time, service: of } = parseObject(line) ?? {};
  if (of !== service || typeof call !== 'string' || typeof text !== 'string') return undefined;
  return typeof time === 'number' && Number.isFinite(time) ? { call, text, time } : undefined;
}
