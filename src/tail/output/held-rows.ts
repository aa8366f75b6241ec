import type { TailRow } from '../row.ts';
import type { TailWriter } from './writer.ts';

/**
 * How many lines a file must have before a late row is added: a later run derives its position from the
 * newest three lines.
 */
const SOLID_LINES = 3;

/** Passes rows to the writer, but delays rows that would prevent a later run from resuming from the file. */
export interface HeldRows {
  /** The number of rows of frames that wait for a walk. They already count toward `--count`. */
  readonly waiting: number;
  /** Whether a late row may be printed now. */
  readonly acceptsLate: boolean;
  has(id: string): boolean;
  /** Prints rows of pages. */
  printPage(rows: readonly TailRow[]): void;
  /**
   * Prints rows of frames. If they would be the first lines of a new file, they wait for a walk. The `late` rows
   * wait until the file has enough lines.
   */
  printFrames(rows: TailRow[], late: readonly TailRow[]): void;
  /** Prints the rows of frames that waited for a walk. */
  release(): void;
  /** Prints all remaining rows at the end of a run. */
  releaseAll(): void;
}

/**
 * `file` describes the output file if a later run can resume only from its lines; otherwise undefined. The
 * first line of a new file determines where a later run starts, so the feed must be verified up to the post of
 * that line.
 */
export function createHeldRows(
  writer: TailWriter,
  file: { readonly lines: number; readonly isNew: boolean } | undefined,
): HeldRows {
  let provesFirst = file?.isNew ?? false;
  let lines = file?.lines ?? SOLID_LINES;
  let frames: TailRow[] = [];
  let lateRows: TailRow[] = [];

  const print = (rows: readonly TailRow[]) => {
    lines += rows.length;
    if (lines < SOLID_LINES || lateRows.length === 0) return writer.push(rows);
    writer.push([...rows, ...lateRows]);
    lateRows = [];
  };

  return {
    get waiting() {
      return frames.length;
    },
    get acceptsLate() {
      return lines >= SOLID_LINES;
    },
    has: (id) => [...frames, ...lateRows].some((row) => row.id === id),
    printPage(rows) {
      if (rows.length > 0) provesFirst = false;
      print(rows);
    },
    printFrames(rows, late) {
      lateRows.push(...late);
      if (provesFirst && rows.length > 0) {
        frames = rows;
        provesFirst = false;
      } else print(rows);
    },
    release() {
      print(frames);
      frames = [];
    },
    releaseAll() {
      writer.push([...frames, ...lateRows]);
      frames = [];
      lateRows = [];
    },
  };
}
