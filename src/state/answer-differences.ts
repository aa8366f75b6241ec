import { join } from 'node:path';
import { appendLines, ensureFolder, isAbsent } from '../base/files.ts';
import { readLines } from '../base/lines.ts';
import { sha256 } from '../base/sha256.ts';

/** A difference between an answer and its description, and when it was last seen. */
export interface SeenDifference {
  readonly call: string;
  /** `bio is missing`. */
  readonly text: string;
  readonly time: number;
}

/** Where differences are saved. They belong to a service, because each may differ in its own way. */
export interface DifferenceOptions {
  /** The state folder; undefined if trdr has no home folder. */
  readonly dir: string | undefined;
  readonly baseUrl: string;
  readonly now: () => number;
}

/** Saves differences between runs, so that `trdr doctor` can list them without paying for an answer. */
export interface DifferenceLog {
  note(call: string, text: string): void;
  list(): SeenDifference[];
}

const DAY_MS = 86_400_000;
/** Differences that were not seen for this long are no longer listed. */
const LISTED_MS = 30 * DAY_MS;
/** Maximum number of saved differences, more than a service has fields. */
const MOST = 1_000;

const fileIn = (dir: string) => join(dir, 'differences.ndjson');

export function openDifferences({ dir, baseUrl, now }: DifferenceOptions): DifferenceLog {
  const service = sha256(baseUrl).slice(0, 16);
  let known: Map<string, SeenDifference> | undefined;

  function load(): Map<string, SeenDifference> {
    if (known) return known;
    known = new Map();
    if (dir === undefined) return known;
    try {
      for (const line of readLines(fileIn(dir), 4_096)) {
        const seen = read(line, service);
        if (seen && known.size < MOST) known.set(`${seen.call} ${seen.text}`, seen);
      }
    } catch {
      // Nothing depends on the list, so an unreadable one counts as empty.
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
      const line = `${JSON.stringify({ service, call, text, time })}\n`;
      try {
        try {
          appendLines(fileIn(dir), line);
        } catch (error) {
          if (!isAbsent(error)) throw error;
          ensureFolder(dir);
          appendLines(fileIn(dir), line);
        }
      } catch {
        // The notice was printed. A full disk must not fail a run because of this list.
      }
    },
    list: () => [...load().values()].filter(({ time }) => now() - time < LISTED_MS),
  };
}

function read(line: string, service: string): SeenDifference | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { call, text, time, service: of }: Partial<Record<string, unknown>> = { ...value };
  if (of !== service || typeof call !== 'string' || typeof text !== 'string') return undefined;
  return typeof time === 'number' && Number.isFinite(time) ? { call, text, time } : undefined;
}
