import { join } from 'node:path';
import { once } from '../base/calls.ts';
import { isNumber, parseObject } from '../base/json-object.ts';
import { sha256 } from '../base/sha256.ts';
import { remember, remembered } from './recent-lines.ts';

/** A difference between an answer and the service description, and when it was last seen. */
export interface SeenDifference {
  readonly call: string;
  /** The difference in words: `bio is missing`. */
  readonly text: string;
  readonly time: number;
}

/** The differences of a service, which a later `trdr doctor` lists without sending a paid call. */
export interface DifferenceLog {
  note(call: string, text: string): void;
  list(): SeenDifference[];
}

const DAY_MS = 86_400_000;
/** Differences that were last seen longer ago are not listed. */
const LISTED_MS = 30 * DAY_MS;
/** The most differences that are saved; no service has this many fields. */
const DIFFERENCES_MAX = 1_000;

/**
 * Opens the differences of one service, because each may differ in its own way. `dir` is the state
 * folder.
 */
export function openDifferences(
  dir: string | undefined,
  baseUrl: string,
  now: () => number,
): DifferenceLog {
  const path = dir && join(dir, 'differences.ndjson');
  const service = once(() => sha256(baseUrl).slice(0, 16));
  const load = once(() => {
    const all = new Map<string, SeenDifference>();
    for (const line of path ? remembered(path) : []) {
      const seen = differenceIn(line, service());
      if (seen) all.set(`${seen.call} ${seen.text}`, seen);
    }
    return all;
  });

  return {
    note(call, text) {
      const time = now();
      const all = load();
      const last = all.get(`${call} ${text}`);
      if (!path || all.size >= DIFFERENCES_MAX || (last && time - last.time < DAY_MS)) return;
      all.set(`${call} ${text}`, { call, text, time });
      try {
        remember(path, [JSON.stringify({ service: service(), call, text, time })], DIFFERENCES_MAX);
      } catch {
        // The difference is also reported on stderr.
      }
    },
    list: () => [...load().values()].filter(({ time }) => now() - time < LISTED_MS),
  };
}

/** The difference in a line; undefined if it is invalid, or of another service. */
function differenceIn(line: string, service: string): SeenDifference | undefined {
  const { call, text, time, service: of } = parseObject(line) ?? {};
  if (of !== service || typeof call !== 'string' || typeof text !== 'string') return undefined;
  return isNumber(time) ? { call, text, time } : undefined;
}
