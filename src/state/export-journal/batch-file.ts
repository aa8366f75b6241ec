import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { quietly } from '../../base/calls.ts';
import { discard, openRegular, PRIVATE_FILE, readAt, syncFolder, writeAll } from '../../base/files.ts';
import { stringifyJson } from '../../base/json.ts';
import { plainJson } from '../../base/json-object.ts';
import { syncFile, writeAtomic } from '../../base/replace-file.ts';

/** A handle is identified by its position in the list of the export. */
export interface JournalValue {
  readonly position: number;
  readonly value: unknown;
}

/** The first line of a batch file. The values of an answer follow, one line each. */
const Head = z.object({
  kind: z.enum(['asked', 'answered', 'lost']),
  positions: z.array(z.int().check(z.nonnegative())),
});

/** No first line is longer, in bytes. */
const LONGEST_HEAD = 256 * 1024;
const FILLER = Buffer.alloc(64 * 1024, '\n');

const roomOf = (path: string) => `${path}.room`;

/** Reserves disk space for the answer, and then records that the batch is about to be requested. */
export function writeAsked(path: string, positions: readonly number[], bytes: number): void {
  const fd = openSync(roomOf(path), 'w', PRIVATE_FILE);
  try {
    for (let left = bytes; left > 0; left -= FILLER.length) writeAll(fd, FILLER.subarray(0, left));
    writeAtomic(path, headLine('asked', positions));
  } catch (error) {
    discard(roomOf(path));
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Writes into the reserved disk space, and replaces the request in one step. */
export function saveAnswer(path: string, rows: readonly JournalValue[]): void {
  const positions = rows.map(({ position }) => position);
  const lines = rows.map(({ value }) => `${stringifyJson(value ?? null)}\n`);
  const bytes = Buffer.from(headLine('answered', positions) + lines.join(''));
  const fd = openSync(roomOf(path), constants.O_RDWR | constants.O_CREAT, PRIVATE_FILE);
  try {
    writeAll(fd, bytes);
    ftruncateSync(fd, bytes.length);
    syncFile(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(roomOf(path), path);
  syncFolder(dirname(path));
}

export function writeLost(path: string, positions: readonly number[], most: number, answer?: string): void {
  const saved = answer === undefined ? '' : `${JSON.stringify(answer)}\n`;
  writeAtomic(path, headLine('lost', positions, { cuAtMost: most }) + saved);
  discard(roomOf(path));
}

export function removeAsked(path: string): void {
  discard(path);
  discard(roomOf(path));
}

export function readHead(path: string) {
  const fd = openRegular(path);
  try {
    const text = readAt(fd, 0, Math.min(fstatSync(fd).size, LONGEST_HEAD)).toString('utf8');
    return parseHead(text.slice(0, text.indexOf('\n') + 1));
  } finally {
    closeSync(fd);
  }
}

const parseHead = (line: string) => Head.safeParse(plainJson(line)).data;

export function readBatch(path: string): { positions: readonly number[]; lines: readonly string[] } {
  const [first = '', ...lines] = (quietly(() => readFileSync(path, 'utf8')) ?? '').split('\n');
  return { positions: parseHead(first)?.positions ?? [], lines };
}

const headLine = (kind: z.infer<typeof Head>['kind'], positions: readonly number[], more: object = {}) =>
  `${JSON.stringify({ kind, positions, ...more })}\n`;
