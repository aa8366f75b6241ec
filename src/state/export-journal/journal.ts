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

const FREE = 0;
const ASKED = -1;
/** The disk space that is reserved per handle. */
const ROW_BYTES = 4_096;
/** Answered batches that stay in memory while their values are read in order. */
const READ_BATCHES = 8;

/**
 * Call `asking` before a batch, then `answered`, `dropped` or `lost`; after a crash, `lost` for
 * `openBatches`.
 */
export class ExportJournal {
  readonly path: string;
  readonly resumed: boolean;
  answers = 0;
  /** The positions of each batch whose outcome is not known. */
  readonly openBatches = new Map<number, readonly number[]>();
  readonly #target: string;
  readonly #lock: { release(): void };
  /** For each position: free, asked, or the number of the batch with its answer plus one. */
  readonly #places: Int32Array;
  readonly #lost = new Map<number, readonly number[]>();
  #next = 0;
  #lowest = 0;
  #closed = false;

  constructor(path: string, target: string, lock: { release(): void }, size: number) {
    this.path = path;
    this.#target = target;
    this.#lock = lock;
    this.#places = new Int32Array(size);
    for (const batch of batchesIn(path)) this.#load(batch);
    this.resumed = this.#next > 0;
    // Left by a killed process. The file that it would have replaced is still there.
    for (const name of readdirSync(path))
      if (/^\.trdr-|\.room$/.test(name)) discard(join(path, name));
  }

  /** The first positions that have no answer and are not in a batch in flight. */
  free(most = this.#places.length): number[] {
    const found: number[] = [];
    while (this.#lowest < this.#places.length && this.#places[this.#lowest] !== FREE)
      this.#lowest++;
    for (
      let position = this.#lowest;
      position < this.#places.length && found.length < most;
      position++
    ) {
      if (this.#places[position] === FREE) found.push(position);
    }
    return found;
  }

  /**
   * Reserves disk space, so that a full disk is noticed before anything is charged. Returns the
   * batch number.
   */
  async asking(positions: readonly number[]): Promise<number> {
    const batch = this.#next++;
    this.#write(() => writeAsked(this.#fileOf(batch), positions, positions.length * ROW_BYTES));
    this.openBatches.set(batch, positions);
    for (const position of positions) this.#places[position] = ASKED;
    return batch;
  }

  /** If this rejects, the caller may save the same answer again. */
  async answered(batch: number, rows: readonly JournalValue[]): Promise<void> {
    this.#write(() => saveAnswer(this.#fileOf(batch), rows));
    for (const { position } of rows) this.#place(position, batch);
    this.#settle(batch);
  }

  /** Answers that this export did not request, such as cached ones. */
  async found(rows: readonly JournalValue[]): Promise<void> {
    if (rows.length > 0) await this.answered(this.#next++, rows);
  }

  /** The batch was not charged. Its handles can be requested again. */
  async dropped(batch: number): Promise<void> {
    removeAsked(this.#fileOf(batch));
    this.#settle(batch);
  }

  /** May have been charged up to `cuAtMost`. `answer` could not be parsed. Frees the handles. */
  async lost(batch: number, cuAtMost: number, answer?: string): Promise<void> {
    const positions = this.openBatches.get(batch) ?? [];
    this.#write(() => writeLost(this.#fileOf(batch), positions, cuAtMost, answer));
    this.#lost.set(batch, positions);
    this.#settle(batch);
  }

  /** Responses that could not be parsed, each with its positions that have no other answer. */
  *unread(): Generator<{ readonly positions: readonly number[]; readonly answer: string }> {
    for (const [batch, all] of this.#lost) {
      const positions = all.filter((position) => (this.#places[position] ?? FREE) <= FREE);
      const answer = textOf(plainJson(readBatch(this.#fileOf(batch)).lines[0] ?? ''));
      if (positions.length > 0 && answer !== undefined) yield { positions, answer };
    }
  }

  async leave(code: string, handles: readonly string[]): Promise<void> {
    this.#write(() =>
      writeAtomic(join(this.path, 'left.json'), `${JSON.stringify({ code, handles })}\n`),
    );
  }

  /**
   * In the order of the handles; not `held` without an answer, undefined if another program removed
   * it.
   */
  *values(): Generator<{
    readonly position: number;
    readonly value: unknown;
    readonly held: boolean;
  }> {
    const batches = new Map<number, ReadonlyMap<number, string>>();
    for (const [position, place] of this.#places.entries()) {
      const held = place > FREE;
      const batch = held ? (batches.get(place) ?? this.#answersOf(place - 1)) : undefined;
      if (batch && !batches.has(place)) {
        for (const oldest of batches.keys())
          if (batches.size >= READ_BATCHES) batches.delete(oldest);
        batches.set(place, batch);
      }
      yield { position, value: parseJson(batch?.get(position) ?? ''), held };
    }
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
    if (!head?.positions.every((position) => position < this.#places.length)) {
      throw damaged(this.#fileOf(batch));
    }
    this.#next = batch + 1;
    for (const position of head.positions) {
      if (head.kind === 'answered') this.#place(position, batch);
      else if (head.kind === 'asked') this.#places[position] = ASKED;
    }
    if (head.kind === 'asked') this.openBatches.set(batch, head.positions);
    if (head.kind === 'lost') this.#lost.set(batch, head.positions);
  }

  #place(position: number, batch: number): void {
    if ((this.#places[position] ?? FREE) <= FREE) this.answers++;
    this.#places[position] = batch + 1;
  }

  #settle(batch: number): void {
    for (const position of this.openBatches.get(batch) ?? []) {
      if (this.#places[position] !== ASKED) continue;
      this.#places[position] = FREE;
      this.#lowest = Math.min(this.#lowest, position);
    }
    this.openBatches.delete(batch);
  }

  #fileOf(batch: number): string {
    return join(this.path, String(batch));
  }

  #answersOf(batch: number): ReadonlyMap<number, string> {
    const { positions, lines } = readBatch(this.#fileOf(batch));
    return new Map(positions.map((position, at) => [position, lines[at] ?? '']));
  }

  #write(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw inWords('write the journal', this.path, error, resumeHint(error));
    }
  }
}

export const batchesIn = (path: string): number[] =>
  readdirSync(path)
    .filter((name) => /^\d{1,9}$/.test(name))
    .map(Number)
    .sort((one, other) => one - other);

/**
 * In one step: a kill must not leave a part of a journal, whose other answers would be paid for
 * again.
 */
export function removeJournal(path: string): void {
  const gone = temporaryIn(dirname(path));
  renameSync(path, gone);
  rmSync(gone, { recursive: true, force: true });
}

export const resumeHint = (error: unknown) =>
  isDiskFull(error)
    ? 'free some disk space and run the same command again with --resume'
    : 'remove the cause and run the same command again with --resume';

export const damaged = (path: string) =>
  new Failure('local', `${path} is damaged`, {
    code: 'JOURNAL_DAMAGED',
    hint: 'restore it from a backup, or move the journal away to start over and pay again',
  });

/** A handle is identified by its position in the list of the export. */
interface JournalValue {
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
function writeAsked(path: string, positions: readonly number[], bytes: number): void {
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
  most: number,
  answer?: string,
): void {
  const saved = answer === undefined ? '' : `${JSON.stringify(answer)}\n`;
  writeAtomic(path, headLine('lost', positions, { cuAtMost: most }) + saved);
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
