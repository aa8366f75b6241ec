import { join } from 'node:path';
import { parseObject } from '../base/json-object.ts';
import { sha256 } from '../base/sha256.ts';
import { remember, remembered } from './remember.ts';

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

/** Saves the differences from the service description, so that a later `trdr doctor` can list them without a paid call. */
export type DifferenceLog = ReturnType<typeof openDifferences>;

const DAY_MS = 86_400_000;
/** Differences that were last saved longer ago than this are not listed. */
const LISTED_MS = 30 * DAY_MS;
/** The maximum number of differences that are saved for one service; no service has this many fields. */
const MOST = 1_000;

/**
 * Opens the differences of one service, because each may differ from the description in its own way. `dir` is the state
 * folder; undefined if there is none.
 */
export function openDifferences(dir: string | undefined, baseUrl: string, now: () => number) {
  const path = dir && join(dir, 'differences.ndjson');
  let known: Map<string, SeenDifference> | undefined;

  function load(): Map<string, SeenDifference> {
    if (known) return known;
    known = new Map();
    const service = serviceOf(baseUrl);
    for (const line of path ? remembered(path) : []) {
      const seen = read(line, service);
      if (seen) known.set(`${seen.call} ${seen.text}`, seen);
    }
    return known;
  }

  return {
    note(call: string, text: string): void {
      const time = now();
      const all = load();
      const last = all.get(`${call} ${text}`);
      if (!path || all.size >= MOST || (last && time - last.time < DAY_MS)) return;
      all.set(`${call} ${text}`, { call, text, time });
      try {
        remember(path, [JSON.stringify({ service: serviceOf(baseUrl), call, text, time })], MOST);
      } catch {
        // Ignore the error: the difference is also reported on stderr, and the run can continue without this
        // list.
      }
    },
    list: (): SeenDifference[] => [...load().values()].filter(({ time }) => now() - time < LISTED_MS),
  };
}

const serviceOf = (baseUrl: string) => sha256(baseUrl).slice(0, 16);

function read(line: string, service: string): SeenDifference | undefined {
  const { call, text, time, service: of } = parseObject(line) ?? {};
  if (of !== service || typeof call !== 'string' || typeof text !== 'string') return undefined;
  return typeof time === 'number' && Number.isFinite(time) ? { call, text, time } : undefined;
}
