import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { quietly } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import {
  discard,
  inWords,
  isDiskFull,
  openRegular,
  PRIVATE_FILE,
  readAt,
  syncFolder,
  temporaryIn,
  writeAll,
} from '../../base/files.ts';
import { parseJson, stringifyJson } from '../../base/json.ts';
import { plainJson, textOf } from '../../base/json-object.ts';
import { replaceWith, syncFile, writeAtomic } from '../../base/replace-file.ts';
import { RowStates } from '../../base/row-states.ts';
import type { Rows, RowValue, UnreadAnswer } from '../../contract/ports/rows.ts';

/** Reads the value of a row in the journal; undefined if another program has changed it. */
export type ParseValue<T> = (value: unknown) => T | undefined;

/** The disk space that is reserved per row, if the caller knows no better. */
const ROW_BYTES = 4_096;
/** The most rows that a batch has if none asked for them, so that its first line stays short. */
const FOUND_ROWS = 1_000;
/** Answered batches that stay in memory while their values are read in order. */
const READ_BATCHES = 8;

/**
 * The journal of an export, in a folder beside its file: one file per batch, first with the request
 * and then, in its place, with the answer. Each change is one rename, so a kill leaves the journal
 * as it was before or after it.
 *
 * After a crash, `openBatches` has the batches whose outcome is not known: `giveUp` settles them
 * before the export continues.
 */
export class ExportJournal<T> implements Rows<T> {
  readonly path: string;
  readonly states: RowStates;
  readonly isKept = true;
  readonly resumed: boolean;
  /** The rows of each batch whose outcome is not known. */
  readonly openBatches = new Map<number, readonly number[]>();
  readonly #target: string;
  readonly #lock: { release(): void };
  readonly #parse: ParseValue<T>;
  readonly #lost = new Map<number, readonly number[]>();
  /** The answers of the last few batches that were read, by their rows. */
  readonly #read = new Map<number, ReadonlyMap<number, string>>();
  #next = 0;
  #closed = false;

  constructor(
    path: string,
    target: string,
    lock: { release(): void },
    size: number,
    parse: ParseValue<T>,
  ) {
    this.path = path;
    this.#target = target;
    this.#lock = lock;
    this.#parse = parse;
    this.states = new RowStates(size);
    for (const batch of batchesIn(path)) this.#load(batch);
    this.resumed = this.#next > 0;
    // Left by a killed process. The file that it would have replaced is still there.
    for (const name of readdirSync(path))
      if (/^\.trdr-|\.room$/.test(name)) discard(join(path, name));
  }

  /** Reserves disk space, so that a full disk is noticed before anything is charged. */
  asking(rows: readonly number[], rowBytes = ROW_BYTES): number {
    const batch = this.#next++;
    this.#write(() => writeAsked(this.#fileOf(batch), rows, rows.length * rowBytes));
    this.openBatches.set(batch, rows);
    for (const row of rows) this.states.ask(row);
    return batch;
  }

  answered(batch: number, values: readonly RowValue<T>[]): void {
    this.#write(() => saveAnswer(this.#fileOf(batch), values));
    for (const { row } of values) this.states.answer(row, batch);
    this.#settle(batch);
  }

  take(values: readonly RowValue<T>[]): void {
    for (let from = 0; from < values.length; from += FOUND_ROWS)
      this.answered(this.#next++, values.slice(from, from + FOUND_ROWS));
  }

  cached(values: readonly RowValue<T>[]): void {
    this.take(values);
  }

  dropped(batch: number): void {
    removeAsked(this.#fileOf(batch));
    this.#settle(batch);
  }

  lost(batch: number, cuAtMost: number, text?: string): void {
    const rows = this.openBatches.get(batch) ?? [];
    this.#write(() => writeLost(this.#fileOf(batch), rows, cuAtMost, text));
    this.#lost.set(batch, rows);
    this.#settle(batch);
  }

  /**
   * What was in flight when the last run died may have been charged: it is lost, and its rows are
   * open again. Returns their number.
   */
  giveUp(cuPerRow: number): number {
    let count = 0;
    for (const [batch, rows] of this.openBatches) {
      // The ledger has the maximum cost already.
      this.lost(batch, rows.length * cuPerRow);
      count += rows.length;
    }
    return count;
  }

  *unread(): Generator<UnreadAnswer, void, void> {
    for (const [batch, all] of this.#lost) {
      const rows = all.filter((row) => this.states.of(row) !== 'answered');
      const text = textOf(plainJson(readBatch(this.#fileOf(batch)).lines[0] ?? ''));
      if (rows.length > 0 && text !== undefined) yield { rows, text };
    }
  }

  /** Throws if another program has changed or removed the answer. */
  read(row: number): T | undefined {
    const batch = this.states.batchOf(row);
    if (batch === undefined) return undefined;
    const value = this.#parse(parseJson(this.#linesOf(batch).get(row) ?? ''));
    if (value === undefined) throw damaged(this.#fileOf(batch));
    return value;
  }

  #linesOf(batch: number): ReadonlyMap<number, string> {
    const before = this.#read.get(batch);
    if (before) return before;
    for (const oldest of this.#read.keys())
      if (this.#read.size >= READ_BATCHES) this.#read.delete(oldest);
    const { positions, lines } = readBatch(this.#fileOf(batch));
    const answers = new Map(positions.map((row, at) => [row, lines[at] ?? '']));
    this.#read.set(batch, answers);
    return answers;
  }

  /**
   * Records the handles that the run skipped, for people who open the journal; trdr never reads
   * this.
   */
  async leave(code: string, handles: readonly string[]): Promise<void> {
    this.#write(() =>
      writeAtomic(join(this.path, 'left.json'), `${JSON.stringify({ code, handles })}\n`),
    );
  }

  /** Writes the complete output in one step, and then removes the journal unless `keep` is set. */
  async deliver(text: AsyncIterable<string> | Iterable<string>, keep: boolean): Promise<void> {
    try {
      await replaceWith(this.#target, text);
    } catch (error) {
      throw inWords('write', this.#target, error, resumeHint(error));
    }
    try {
      if (!keep) removeJournal(this.path);
    } catch (error) {
      throw inWords('remove the journal', this.path, error);
    }
  }

  /** Removes the journal if it has neither requests nor answers. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const isUsed = this.states.count('answered') + this.openBatches.size + this.#lost.size > 0;
    if (!isUsed) rmSync(this.path, { recursive: true, force: true });
    this.#lock.release();
  }

  #load(batch: number): void {
    const head = readHead(this.#fileOf(batch));
    if (!head?.positions.every((row) => row < this.states.size)) {
      throw damaged(this.#fileOf(batch));
    }
    this.#next = batch + 1;
    for (const row of head.positions) {
      if (head.kind === 'answered') this.states.answer(row, batch);
      else if (head.kind === 'asked') this.states.ask(row);
    }
    if (head.kind === 'asked') this.openBatches.set(batch, head.positions);
    if (head.kind === 'lost') this.#lost.set(batch, head.positions);
  }

  #settle(batch: number): void {
    for (const row of this.openBatches.get(batch) ?? []) this.states.release(row);
    this.openBatches.delete(batch);
  }

  #fileOf(batch: number): string {
    return join(this.path, String(batch));
  }

  #write(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw inWords('write the journal', this.path, error, resumeHint(error));
    }
  }
}

/** The numbers of the batches in a journal, in order. */
export const batchesIn = (path: string): number[] =>
  readdirSync(path)
    .filter((name) => /^\d{1,9}$/.test(name))
    .map(Number)
    .sort((one, other) => one - other);

/**
 * Removes a journal in one step: a kill must not leave a part of it, because its other answers
 * would be paid for again.
 */
export function removeJournal(path: string): void {
  const gone = temporaryIn(dirname(path));
  renameSync(path, gone);
  rmSync(gone, { recursive: true, force: true });
}

export const resumeHint = (error: unknown): string =>
  `${isDiskFull(error) ? 'free some disk space' : 'remove the cause'} and run the same command again with --resume`;

export const damaged = (path: string) =>
  new Failure('local', `${path} is damaged`, {
    code: 'JOURNAL_DAMAGED',
    hint: 'restore it from a backup, or move the journal away to start over and pay again',
  });

/** The first line of a batch file, with its rows. The values of an answer follow, one line each. */
const Head = z.object({
  kind: z.enum(['asked', 'answered', 'lost']),
  positions: z.array(z.int().check(z.nonnegative())),
});

/** The bytes that are read to find the first line; none is longer. */
const LONGEST_HEAD = 256 * 1024;
const FILLER = Buffer.alloc(64 * 1024, '\n');

const roomOf = (path: string) => `${path}.room`;

/** Reserves disk space for the answer, and then records that the batch is about to be requested. */
function writeAsked(path: string, positions: readonly number[], bytes: number): void {
  const fd = openSync(roomOf(path), 'w', PRIVATE_FILE);
  try {
    for (let rest = bytes; rest > 0; rest -= FILLER.length) writeAll(fd, FILLER.subarray(0, rest));
    writeAtomic(path, headLine('asked', positions));
  } catch (error) {
    discard(roomOf(path));
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Writes an answer into the reserved disk space, and replaces the request in one step. */
function saveAnswer(path: string, values: readonly RowValue<unknown>[]): void {
  const positions = values.map(({ row }) => row);
  const lines = values.map(({ value }) => `${stringifyJson(value ?? null)}\n`);
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

function writeLost(
  path: string,
  positions: readonly number[],
  cuAtMost: number,
  answer?: string,
): void {
  const saved = answer === undefined ? '' : `${JSON.stringify(answer)}\n`;
  // On a full disk, the reserved space is all that there is.
  discard(roomOf(path));
  writeAtomic(path, headLine('lost', positions, { cuAtMost }) + saved);
}

function removeAsked(path: string): void {
  discard(path);
  discard(roomOf(path));
}

function readHead(path: string) {
  const fd = openRegular(path);
  try {
    const text = readAt(fd, 0, Math.min(fstatSync(fd).size, LONGEST_HEAD)).toString('utf8');
    return parseHead(text.slice(0, text.indexOf('\n') + 1));
  } finally {
    closeSync(fd);
  }
}

const parseHead = (line: string) => Head.safeParse(plainJson(line)).data;

function readBatch(path: string): { positions: readonly number[]; lines: readonly string[] } {
  const [first = '', ...lines] = (quietly(() => readFileSync(path, 'utf8')) ?? '').split('\n');
  return { positions: parseHead(first)?.positions ?? [], lines };
}

const headLine = (
  kind: z.infer<typeof Head>['kind'],
  positions: readonly number[],
  more: object = {},
) => `${JSON.stringify({ kind, positions, ...more })}\n`;
