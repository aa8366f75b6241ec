import { unlink } from 'node:fs/promises';
import { Failure } from '../../base/failure.ts';
import { discard, inWords, isAbsent, isDiskFull } from '../../base/files.ts';
import { replaceWith } from '../../base/replace-file.ts';
import type { JournalFile } from './journal-file.ts';
import type { JournalCounts, journalIndex, OpenBatch } from './journal-index.ts';
import { type JournalLine, readJournalLine, writeLine } from './journal-lines.ts';

/** The answer for one handle. */
interface JournalValue {
  readonly position: number;
  readonly value: unknown;
}

/**
 * The journal of an export, which records all CU that were spent. For each batch, the caller calls `asking`
 * before the batch is sent, and `answered`, `dropped` or `lost` when the outcome is known. After a crash,
 * `openBatches` lists the batches whose outcome is not known. Before the export continues, the caller must call
 * `lost` or `dropped` for each of these batches.
 */
export interface ExportJournal {
  readonly path: string;
  /** When the export was started, epoch ms. */
  readonly startedAt: number;
  readonly resumed: boolean;
  /** When an earlier run last wrote the journal, epoch ms; null if this run created it. */
  readonly writtenAt: number | null;
  openBatches(): OpenBatch[];
  counts(): JournalCounts;
  /** The first positions that have no answer and are not in a batch in flight. */
  free(most: number): number[];
  /**
   * Reserves disk space for the answer of a batch, so that a full disk is noticed before anything is charged.
   * Then records that the batch is about to be requested. Returns the number of the batch.
   */
  asking(batch: {
    readonly positions: readonly number[];
    readonly unitsUsed: number | null;
    readonly bytes?: number | undefined;
  }): Promise<number>;
  /** Saves an answer and syncs the file. If this rejects, the caller may save the same answer again. */
  answered(
    batch: number,
    answer: {
      readonly rows: readonly JournalValue[];
      readonly cu: number;
      readonly requestId?: string | undefined;
    },
  ): Promise<void>;
  /** Saves answers that this export did not request, such as cached ones. */
  found(rows: readonly JournalValue[]): Promise<void>;
  /** Records that a batch was not charged. Its handles can be requested again. */
  dropped(batch: number): Promise<void>;
  /**
   * Records that the answer of a batch was lost, and that the service may have charged up to `cuAtMost` for the batch.
   * `answer` is the response, if one arrived but could not be parsed. The handles of the batch can be requested again.
   */
  lost(batch: number, cuAtMost: number, answer?: string): Promise<void>;
  /** The saved responses that could not be parsed, each with its positions that have no other answer. */
  unread(): AsyncGenerator<{ readonly positions: readonly number[]; readonly answer: string }>;
  /** Records the handles that the run skipped. */
  leave(code: string, handles: readonly string[]): Promise<void>;
  /** The answers in the order of the handles; `held` is false for a handle without an answer. */
  values(): AsyncGenerator<{ readonly position: number; readonly value: unknown; readonly held: boolean }>;
  /**
   * Writes the complete output file and renames it to its final name. Then removes the journal, unless `keep`
   * is set, and closes it.
   */
  deliver(
    text: AsyncIterable<string> | Iterable<string>,
    options?: { readonly keep?: boolean },
  ): Promise<void>;
  /**
   * Closes the journal and unlocks the output. Removes the journal only if it has neither requests nor
   * answers.
   */
  close(): Promise<void>;
}

const damaged = (path: string, position: number) =>
  new Failure(
    'local',
    `the journal ${path} no longer contains the answer for handle number ${position + 1}`,
    {
      code: 'JOURNAL_DAMAGED',
      hint: 'another program has changed it; restore it from a backup, or run the command again with --resume to request what is missing',
    },
  );

export const resumeHint = (error: unknown) =>
  isDiskFull(error)
    ? 'free some disk space and run the same command again with --resume'
    : 'remove the cause and run the same command again with --resume';

/** The default disk space that is reserved for one row, in bytes. */
const ROW_BYTES = 4_096;

const rowLine = ({ position, value }: JournalValue): JournalLine => ({ kind: 'row', position, value });

/** An open and locked journal file, and its index. */
export interface Opened {
  readonly file: JournalFile;
  readonly path: string;
  readonly target: string;
  readonly lock: { release(): void };
  readonly index: ReturnType<typeof journalIndex>;
  readonly startedAt: number;
  readonly resumed: boolean;
  readonly writtenAt: number | null;
}

/**
 * Creates the journal for an open file. Writes run one at a time, so that the index always matches the file.
 */
export function journalOn({
  file,
  path,
  target,
  lock,
  index,
  startedAt,
  resumed,
  writtenAt,
}: Opened): ExportJournal {
  let turn: Promise<unknown> = Promise.resolve();
  let closed = false;
  /** The disk space reserved for each batch in flight, in bytes, by batch number. */
  const reserved = new Map<number, number>();

  async function add(lines: readonly JournalLine[]): Promise<void> {
    const texts = lines.map(writeLine);
    let at = file.end();
    await file.append(texts.join(''));
    for (const [place, line] of lines.entries()) {
      const length = Buffer.byteLength(texts[place] ?? '');
      index.add({ line, at, length: length - 1 });
      at += length;
    }
  }

  /** Runs one write at a time, and adds the path to the error message of a failed write. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(async () => {
      if (closed) throw new Error('the journal is closed');
      try {
        return await work();
      } catch (error) {
        throw inWords('write the journal', path, error, resumeHint(error));
      }
    });
    turn = result.catch(() => {});
    return result;
  }

  /** Adds the last lines of a batch, which must be in flight. */
  const settle = (batch: number, lines: readonly JournalLine[]) =>
    inTurn(async () => {
      if (!index.isOpen(batch)) throw new RangeError(`batch ${batch} is not in flight`);
      await add(lines);
      reserved.delete(batch);
    });

  async function close(): Promise<void> {
    await turn;
    if (closed) return;
    closed = true;
    await file.close();
    if (index.nextBatch() === 0 && index.counts().answered === 0) discard(path);
    lock.release();
  }

  return {
    path,
    startedAt,
    resumed,
    writtenAt,
    openBatches: index.openBatches,
    counts: index.counts,
    free: index.free,
    asking: ({ positions, unitsUsed, bytes = positions.length * ROW_BYTES }) =>
      inTurn(async () => {
        if (!positions.every(index.isFree))
          throw new RangeError('a handle of the batch was already requested');
        const batch = index.nextBatch();
        const line: JournalLine = { kind: 'asking', batch, positions, unitsUsed };
        const others = [...reserved.values()].reduce((sum, one) => sum + one, 0);
        await file.reserve(Buffer.byteLength(writeLine(line)) + bytes + others);
        await add([line]);
        reserved.set(batch, bytes);
        return batch;
      }),
    answered: (batch, { rows, cu, requestId = null }) =>
      settle(batch, [...rows.map(rowLine), { kind: 'answered', batch, cu, requestId }]),
    found: (rows) => inTurn(() => add(rows.map(rowLine))),
    dropped: (batch) => settle(batch, [{ kind: 'dropped', batch }]),
    lost: (batch, cuAtMost, answer) =>
      settle(batch, [{ kind: 'lost', batch, cuAtMost, ...(answer !== undefined && { answer }) }]),
    async *unread() {
      for (const { positions, at, length } of index.unread()) {
        const line = readJournalLine(await file.read(at, length));
        if (line?.kind === 'lost' && line.answer !== undefined) yield { positions, answer: line.answer };
      }
    },
    leave: (code, handles) => inTurn(() => add([{ kind: 'left', code, handles }])),
    async *values() {
      for (let position = 0; position < index.counts().size; position++) {
        const place = index.place(position);
        const line = place && readJournalLine(await file.read(place.at, place.length));
        // If another program has removed an answer from the file, throw instead of leaving it out of the
        // output.
        if (place && line?.kind !== 'row') throw damaged(path, position);
        yield { position, value: line?.kind === 'row' ? line.value : undefined, held: line !== undefined };
      }
    },
    async deliver(text, { keep = false } = {}) {
      try {
        await replaceWith(target, text);
      } catch (error) {
        throw inWords('write', target, error, resumeHint(error));
      }
      try {
        if (!keep) await unlink(path);
      } catch (error) {
        if (!isAbsent(error)) throw inWords('remove the journal', path, error);
      } finally {
        await close();
      }
    },
    close,
  };
}
