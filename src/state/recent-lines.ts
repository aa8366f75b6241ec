import { closeSync, fstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { once, quietly } from '../base/calls.ts';
import { appendLines, ensureFolder, isAbsent, openRegular, readAt } from '../base/files.ts';
import { parseObject } from '../base/json-object.ts';
import { isHeld, tryLock } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';
import { sha256 } from '../base/sha256.ts';

/** Only the end of a file is read. A larger file is reduced when lines are added. */
const LARGEST = 256 * 1024;

/** Shared by all processes. A large file is reduced to its latest `max` distinct lines. */
export function remember(path: string, lines: readonly string[], max: number): void {
  const text = `${lines.join('\n')}\n`;
  if (append(path, text) <= LARGEST) return;
  const lock = tryLock(`${path}.lock`);
  if (!isHeld(lock)) return;
  try {
    // A line that another process appends at this moment may be lost, but is added again when it
    // next occurs.
    const latest = [...new Set(remembered(path).reverse())].slice(0, max).reverse();
    writeAtomic(path, `${latest.join('\n')}\n`, { sync: false, temporary: `${path}.tmp` });
  } finally {
    lock.release();
  }
}

function append(path: string, text: string): number {
  try {
    return appendLines(path, text).after;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    ensureFolder(dirname(path));
    return appendLines(path, text).after;
  }
}

export const remembered = (path: string): string[] => quietly(() => latestLines(path)) ?? [];

function latestLines(path: string): string[] {
  const fd = openRegular(path);
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - LARGEST);
    const lines = readAt(fd, from, size - from)
      .toString('utf8')
      .split('\n')
      .slice(0, -1);
    // The bytes may begin in the middle of a line.
    return from === 0 ? lines : lines.slice(1);
  } finally {
    closeSync(fd);
  }
}

export interface KnownToken {
  readonly symbol: string;
  readonly address: string;
  readonly network: string;
}

/** A ticker can be any text; others are not saved. */
const PLAIN = /^[^\s\p{C}]{1,40}$/u;
const ADDRESS = /^[A-Za-z0-9]{20,64}$/;
const NETWORK = /^[a-z0-9-]{0,20}$/;
const MOST_TOKENS = 2_000;

const fileIn = (folder: string) => join(folder, 'tokens');

/** So that `--token SYMBOL` can find addresses free of charge. */
export function noteTokens(folder: string, tokens: readonly KnownToken[]): void {
  const known = new Set(remembered(fileIn(folder)));
  const lines = new Set(tokens.filter(isPlain).map(lineOf));
  const fresh = [...lines].filter((line) => !known.has(line));
  if (fresh.length > 0) remember(fileIn(folder), fresh, MOST_TOKENS);
}

/** Oldest first. */
export const tokensIn = (folder: string): KnownToken[] =>
  remembered(fileIn(folder))
    .map((line) => {
      const [symbol = '', address = '', network = ''] = line.split('\t');
      return { symbol, address, network };
    })
    .filter(isPlain);

const isPlain = ({ symbol, address, network }: KnownToken) =>
  PLAIN.test(symbol) && ADDRESS.test(address) && NETWORK.test(network);
const lineOf = ({ symbol, address, network }: KnownToken) => `${symbol}\t${address}\t${network}`;

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
  const service = once(() => sha256(baseUrl).slice(0, 16));
  const load = once(() => {
    const known = new Map<string, SeenDifference>();
    for (const line of path ? remembered(path) : []) {
      const seen = read(line, service());
      if (seen) known.set(`${seen.call} ${seen.text}`, seen);
    }
    return known;
  });

  return {
    note(call: string, text: string): void {
      const time = now();
      const all = load();
      const last = all.get(`${call} ${text}`);
      if (!path || all.size >= MOST || (last && time - last.time < DAY_MS)) return;
      all.set(`${call} ${text}`, { call, text, time });
      try {
        remember(path, [JSON.stringify({ service: service(), call, text, time })], MOST);
      } catch {
        // The difference is also reported on stderr.
      }
    },
    list: (): SeenDifference[] =>
      [...load().values()].filter(({ time }) => now() - time < LISTED_MS),
  };
}

function read(line: string, service: string): SeenDifference | undefined {
  const { call, text, time, service: of } = parseObject(line) ?? {};
  if (of !== service || typeof call !== 'string' || typeof text !== 'string') return undefined;
  return typeof time === 'number' && Number.isFinite(time) ? { call, text, time } : undefined;
}
