import { join } from 'node:path';
import { parseObject } from '../base/json-object.ts';
import { sha256 } from '../base/sha256.ts';
import { remember, remembered } from './recent-lines.ts';

export interface SeenDifference {
  readonly call: string;
  /** `bio is missing`. */
  readonly text: string;
  readonly time: number;
}

export type DifferenceLog = ReturnType<typeof openDifferences>;

const DAY_MS = 86_400_000;
const LISTED_MS = 30 * DAY_MS;
/** No service has this many fields. */
const MOST = 1_000;

/** Each service may differ in its own way. `dir` is the state folder. */
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
        // The difference is also reported on stderr.
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
