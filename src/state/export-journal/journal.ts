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

/** The disk space that is reserved per position, if the caller knows no better. */
const ROW_BYTES = 4_096;
/** Answered batches that stay in memory while their values are read in order. */
const READ_BATCHES = 8;

/**
 * The journal of an export, in a folder beside its file: one file per batch, first with the request
 * and then, in its place, with the answer. Each change is one rename, so a kill leaves the journal
 * as it was before or after it.
 *
 * The caller calls `asking` before a batch is sent, and `answered`, `dropped` or `lost` when its
 * outcome is known. After a crash, `openBatches` has the batches whose outcome is not known: `lost`
 * must be called for each before the export continues.
 */
export class ExportJournal {
  readonly path: string;
  readonly resumed: boolean;
  answers = 0;
  /** The positions of each batch whose outcome is not known. */
  readonly openBatches = new Map<number, readonly number[]>();
  readonly #target: string;
  readonly #lock: { release(): void };
  readonly #places: PositionStates;
  readonly #lost = new Map<number, readonly number[]>();
  #next = 0;
  #closed = false;

  constructor(path: string, target: string, lock: { release(): void }, size: number) {
    this.path = path;
    this.#target = target;
    this.#lock = lock;
    this.#places = new PositionStates(size);
    for (const batch of batchesIn(path)) this.#load(batch);
    this.resumed = this.#next > 0;
    // Left by a killed process. The file that it would have replaced is still there.
    for (const name of readdirSync(path))
      if (/^\.trdr-|\.room$/.test(name)) discard(join(path, name));
  }

  /** The first positions that have no answer and are not in a batch in flight. */
  free(count = this.#places.size): number[] {
    return this.#places.free(count);
  }

  /**
   * Reserves disk space, so that a full disk is noticed before anything is charged. Returns the
   * batch number.
   */
  async asking(positions: readonly number[], rowBytes = ROW_BYTES): Promise<number> {
    const batch = this.#next++;
    this.#write(() => writeAsked(this.#fileOf(batch), positions, positions.length * rowBytes));
    this.openBatches.set(batch, positions);
    for (const position of positions) this.#places.ask(position);
    return batch;
  }

  /** Saves an answer. If this rejects, the caller may save the same answer again. */
  async answered(batch: number, rows: readonly JournalValue[]): Promise<void> {
    this.#write(() => saveAnswer(this.#fileOf(batch), rows));
    for (const { position } of rows) this.#answer(position, batch);
    this.#settle(batch);
  }

  /** Saves answers that this export did not request, such as cached ones. */
  async found(rows: readonly JournalValue[]): Promise<void> {
    if (rows.length > 0) await this.answered(this.#next++, rows);
  }

  /** Records that a batch was not charged. Its handles can be requested again. */
  async dropped(batch: number): Promise<void> {
    removeAsked(this.#fileOf(batch));
    this.#settle(batch);
  }

  /**
   * Records that the answer of a batch was lost, or could not be parsed (`answer`), and may have
   * been charged up to `cuAtMost`. Its handles can be requested again.
   */
  async lost(batch: number, cuAtMost: number, answer?: string): Promise<void> {
    const positions = this.openBatches.get(batch) ?? [];
    this.#write(() => writeLost(this.#fileOf(batch), positions, cuAtMost, answer));
    this.#lost.set(batch, positions);
    this.#settle(batch);
  }

  /** Responses that could not be parsed, each with its positions that have no other answer. */
  *unread(): Generator<{ readonly positions: readonly number[]; readonly answer: string }> {
    for (const [batch, all] of this.#lost) {
      const positions = all.filter((position) => this.#places.answeredIn(position) === undefined);
      const answer = textOf(plainJson(readBatch(this.#fileOf(batch)).lines[0] ?? ''));
      if (positions.length > 0 && answer !== undefined) yield { positions, answer };
    }
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

  /**
   * The answers in the order of the handles. A handle without an answer is not `held`; the value of
   * a held one is undefined if another program removed it from the journal.
   */
  *values(): Generator<{
    readonly position: number;
    readonly value: unknown;
    readonly held: boolean;
  }> {
    const batches = new Map<number, ReadonlyMap<number, string>>();
    for (let position = 0; position < this.#places.size; position++) {
      const batch = this.#places.answeredIn(position);
      const lines = batch === undefined ? undefined : this.#linesOf(batch, batches);
      const value = parseJson(lines?.get(position) ?? '');
      yield { position, value, held: batch !== undefined };
    }
  }

  /** The answers of a batch, of which the last few read ones stay in memory. */
  #linesOf(
    batch: number,
    batches: Map<number, ReadonlyMap<number, string>>,
  ): ReadonlyMap<number, string> {
    const before = batches.get(batch);
    if (before) return before;
    for (const oldest of batches.keys()) if (batches.size >= READ_BATCHES) batches.delete(oldest);
    const { positions, lines } = readBatch(this.#fileOf(batch));
    const answers = new Map(positions.map((position, at) => [position, lines[at] ?? '']));
    batches.set(batch, answers);
    return answers;
  }

  /** Writes the complete output in one step, and then removes the journal unless `keep` is set. */
  async deliver(text: AsyncIterable<string> | Iterable<string>, keep = false): Promise<void> {
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
    const isUsed = this.answers + this.openBatches.size + this.#lost.size > 0;
    if (!isUsed) rmSync(this.path, { recursive: true, force: true });
    this.#lock.release();
  }

  #load(batch: number): void {
    const head = readHead(this.#fileOf(batch));
    if (!head?.positions.every((position) => position < this.#places.size)) {
      throw damaged(this.#fileOf(batch));
    }
    this.#next = batch + 1;
    for (const position of head.positions) {
      if (head.kind === 'answered') this.#answer(position, batch);
      else if (head.kind === 'asked') this.#places.ask(position);
    }
    if (head.kind === 'asked') this.openBatches.set(batch, head.positions);
    if (head.kind === 'lost') this.#lost.set(batch, head.positions);
  }

  #answer(position: number, batch: number): void {
    if (this.#places.answeredIn(position) === undefined) this.answers++;
    this.#places.answer(position, batch);
  }

  #settle(batch: number): void {
    for (const position of this.openBatches.get(batch) ?? []) this.#places.release(position);
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

/** What is known of each position, in four bytes: an export can have a million handles. */
class PositionStates {
  /**
   * 0 if the position is free, -1 if it was asked, or else the number of the batch with its answer
   * plus one.
   */
  readonly #codes: Int32Array;
  /** No position before this one is free. */
  #lowest = 0;

  constructor(size: number) {
    this.#codes = new Int32Array(size);
  }

  get size(): number {
    return this.#codes.length;
  }

  /** The first free positions. */
  free(count: number): number[] {
    const positions: number[] = [];
    while (this.#lowest < this.size && !this.#isFree(this.#lowest)) this.#lowest++;
    for (let at = this.#lowest; at < this.size && positions.length < count; at++)
      if (this.#isFree(at)) positions.push(at);
    return positions;
  }

  ask(position: number): void {
    this.#codes[position] = -1;
  }

  answer(position: number, batch: number): void {
    this.#codes[position] = batch + 1;
  }

  /** Frees a position that was asked and has no answer. */
  release(position: number): void {
    if (this.#codes[position] !== -1) return;
    this.#codes[position] = 0;
    this.#lowest = Math.min(this.#lowest, position);
  }

  /** The batch with the answer; undefined if there is none. */
  answeredIn(position: number): number | undefined {
    const code = this.#codes[position] ?? 0;
    return code > 0 ? code - 1 : undefined;
  }

  #isFree(position: number): boolean {
    return this.#codes[position] === 0;
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
function saveAnswer(path: string, rows: readonly JournalValue[]): void {
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

function writeLost(
  path: string,
  positions: readonly number[],
  cuAtMost: number,
  answer?: string,
): void {
  const saved = answer === undefined ? '' : `${JSON.stringify(answer)}\n`;
  writeAtomic(path, headLine('lost', positions, { cuAtMost }) + saved);
  discard(roomOf(path));
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
