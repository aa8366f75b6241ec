import type { Placed } from './journal-load.ts';

/** A batch that was requested and whose answer is missing or incomplete. */
export interface OpenBatch {
  readonly batch: number;
  /** The handles of the batch that have no answer, by their positions in the export. */
  readonly positions: readonly number[];
  /** The units that the key had used this month before the request; null if `me` did not report them. */
  readonly unitsUsed: number | null;
  /** Whether a part of the answer was saved, which proves that the batch was charged. */
  readonly partial: boolean;
}

/** A saved response that could not be parsed. */
interface UnreadAnswer {
  /** The handles of the batch, by their positions in the export. */
  readonly positions: readonly number[];
  /** Where the line with the response begins in the file. */
  readonly at: number;
  readonly length: number;
}

/** The progress of an export. */
export interface JournalCounts {
  readonly size: number;
  /** The number of handles with an answer. */
  readonly answered: number;
  /** The cost of the answers in CU, without that of lost answers. */
  readonly cu: number;
  readonly lostBatches: number;
  readonly lostCuAtMost: number;
}

const FREE = 0;
const ASKED = 1;
const ANSWERED = 2;

/**
 * The state of each handle of an export. Needs 13 bytes of memory per handle; the answers stay in the file.
 */
export function journalIndex(size: number) {
  const states = new Uint8Array(size);
  const places = new Float64Array(size);
  const lengths = new Uint32Array(size);
  const open = new Map<number, { positions: readonly number[]; unitsUsed: number | null }>();
  const unread: UnreadAnswer[] = [];
  let lowest = 0;
  let batches = 0;
  let [answered, cu, lostBatches, lostCuAtMost] = [0, 0, 0, 0];

  const unanswered = (positions: readonly number[]) =>
    positions.filter((position) => states[position] !== ANSWERED);

  function free(batch: number): void {
    for (const position of unanswered(open.get(batch)?.positions ?? [])) {
      states[position] = FREE;
      lowest = Math.min(lowest, position);
    }
    open.delete(batch);
  }

  return {
    /**
     * Adds the next line of the journal. Returns false if the line contains positions that the export does
     * not have.
     */
    add({ line, at, length }: Placed): boolean {
      switch (line.kind) {
        case 'header':
        case 'left':
          return true;
        case 'asking':
          if (line.positions.some((position) => position >= size)) return false;
          open.set(line.batch, line);
          for (const position of unanswered(line.positions)) states[position] = ASKED;
          batches = Math.max(batches, line.batch + 1);
          return true;
        case 'row':
          if (line.position >= size) return false;
          if (states[line.position] !== ANSWERED) answered++;
          states[line.position] = ANSWERED;
          places[line.position] = at;
          lengths[line.position] = length;
          return true;
        case 'answered':
          cu += line.cu;
          free(line.batch);
          return true;
        case 'lost':
          lostBatches++;
          lostCuAtMost += line.cuAtMost;
          if (line.answer !== undefined) {
            unread.push({ positions: open.get(line.batch)?.positions ?? [], at, length });
          }
          free(line.batch);
          return true;
        case 'dropped':
          free(line.batch);
          return true;
      }
    },
    nextBatch: () => batches,
    isOpen: (batch: number) => open.has(batch),
    isFree: (position: number) => position < size && states[position] === FREE,
    /** The first positions that have no answer and are not in a batch in flight. */
    free(most: number): number[] {
      const found: number[] = [];
      while (lowest < size && states[lowest] !== FREE) lowest++;
      for (let position = lowest; position < size && found.length < most; position++) {
        if (states[position] === FREE) found.push(position);
      }
      return found;
    },
    /** Where the file has the answer for a position; undefined if there is no answer. */
    place(position: number): { readonly at: number; readonly length: number } | undefined {
      if (states[position] !== ANSWERED) return undefined;
      return { at: places[position] ?? 0, length: lengths[position] ?? 0 };
    },
    /** The saved responses that could not be parsed, each with its positions that have no other answer. */
    unread: (): UnreadAnswer[] =>
      unread
        .map((answer) => ({ ...answer, positions: unanswered(answer.positions) }))
        .filter(({ positions }) => positions.length > 0),
    openBatches: (): OpenBatch[] =>
      [...open].map(([batch, { positions, unitsUsed }]) => {
        const left = unanswered(positions);
        return { batch, positions: left, unitsUsed, partial: left.length < positions.length };
      }),
    counts: (): JournalCounts => ({ size, answered, cu, lostBatches, lostCuAtMost }),
  };
}
