import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { quietly } from '../base/calls.ts';
import type { AnswerCache, CachedAnswer, CachedEndpoint } from '../contract/ports/answers.ts';
import { type KeptFor, KeptLogs } from './kept-logs.ts';
import type { Entry } from './keyed-log.ts';

interface CacheOptions extends KeptFor {
  readonly now: () => number;
}

/** Older answers, and folders of other keys that were not used for as long, are removed. */
const FORGET_MS = 30 * 86_400_000;
/** An answer from further ahead was saved while the clock was wrong, and would expire too late. */
const AHEAD_MS = 60_000;
/** The log is in the folder itself, whose age is that of its files. */
const LOG = '.';

/** The answers that are saved for later runs with a base URL and key. */
export class FileCache implements AnswerCache {
  readonly #logs: KeptLogs<typeof LOG>;
  readonly #now: () => number;
  #isSwept = false;

  constructor(options: CacheOptions) {
    this.#now = options.now;
    const isKept = (entry: Entry) => (answerOf(entry)?.time ?? 0) > this.#now() - FORGET_MS;
    this.#logs = new KeptLogs(options, 'answers', [LOG], isKept);
  }

  get(
    endpoint: CachedEndpoint,
    subjects: readonly string[],
  ): readonly (CachedAnswer | undefined)[] {
    const keys = subjects.map((subject) => keyOf(endpoint, subject));
    const answers = this.#logs.read(LOG, keys, answerOf);
    return keys.map((key) => {
      const answer = answers.get(key);
      return answer && answer.time <= this.#now() + AHEAD_MS ? answer : undefined;
    });
  }

  async put(endpoint: CachedEndpoint, answers: ReadonlyMap<string, CachedAnswer>): Promise<void> {
    const entries = [...answers].map(([subject, answer]): [string, Entry] => [
      keyOf(endpoint, subject),
      entryOf(answer),
    ]);
    await this.#logs.write(() => {
      // Before: by a clock that is far ahead, also what is saved now would look old.
      this.#sweep();
      this.#logs.log(LOG)?.append(new Map(entries));
    });
  }

  /** Takes over the answers of an earlier key that this one does not have. */
  inherit(earlier: string): Promise<void> {
    return this.#logs.inherit(earlier);
  }

  clear(): Promise<void> {
    return this.#logs.clear();
  }

  /** Reads every file. */
  stats(): CacheStats {
    const log = this.#logs.log(LOG);
    let entries = 0;
    let found = 0;
    let oldest = Number.POSITIVE_INFINITY;
    let newest = Number.NEGATIVE_INFINITY;
    for (const [, entry] of log?.all() ?? []) {
      const answer = answerOf(entry);
      if (answer === undefined) continue;
      entries++;
      if (answer.status === 200) found++;
      oldest = Math.min(oldest, answer.time);
      newest = Math.max(newest, answer.time);
    }
    const times = entries === 0 ? { oldest: null, newest: null } : { oldest, newest };
    const path = this.#logs.folder;
    return { path, entries, found, missing: entries - found, bytes: log?.bytes() ?? 0, ...times };
  }

  /** Removes old answers once per run: in one of the files, and unused folders of other keys. */
  #sweep(): void {
    const { folder } = this.#logs;
    if (this.#isSwept || folder === undefined) return;
    this.#isSwept = true;
    const now = this.#now();
    this.#logs.log(LOG)?.removeUnchanged(now, now - FORGET_MS);
    removeUnused(dirname(folder), folder, now);
  }
}

const keyOf = (endpoint: CachedEndpoint, subject: string): string => `${endpoint} ${subject}`;

const entryOf = ({ status, time, record }: CachedAnswer): Entry => [
  status,
  time,
  status === 200 ? record : null,
];

function answerOf([status, time, record]: Entry): CachedAnswer | undefined {
  if ((status !== 200 && status !== 404) || typeof time !== 'number') return undefined;
  return { time, status, record };
}

const namesIn = (folder: string): string[] => quietly(() => readdirSync(folder)) ?? [];

const isOld = (path: string, now: number): boolean => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && now - stats.mtimeMs > FORGET_MS;
};

function removeUnused(all: string, used: string, now: number): void {
  for (const name of namesIn(all)) {
    const folder = join(all, name);
    if (folder === used || !/^[0-9a-f]{32}$/.test(name)) continue;
    const isUnused = namesIn(folder).every((part) => isOld(join(folder, part), now));
    if (isUnused) rmSync(folder, { recursive: true, force: true });
  }
}

/** What `trdr cache stats` prints. */
interface CacheStats {
  readonly path: string | undefined;
  readonly entries: number;
  readonly found: number;
  readonly missing: number;
  readonly bytes: number;
  readonly oldest: number | null;
  readonly newest: number | null;
}
