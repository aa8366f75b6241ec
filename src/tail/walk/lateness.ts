import type { TailRow } from '../row.ts';
import type { Walked } from './walk.ts';

/**
 * A post counts as missed only if it is older than the newest post by more than this, because frames of newer posts
 * may still arrive.
 */
const PROMPT_MS = 15_000;

/** How many new rows of a walk were late, and by how much at most. */
export interface Lateness {
  late: number;
  worstMs: number;
  /** The number of rows that the WebSocket should have delivered before the walk. */
  missed: number;
}

/**
 * Counts a new row of a walk: as late if it is older than `before`, the time of the post that was the newest verified
 * one when the walk ended; otherwise as missed if the WebSocket should have delivered it before the walk. Counts
 * nothing if `before` or the time of the row is missing.
 */
export function countLateness(
  lateness: Lateness,
  row: TailRow,
  walked: Walked,
  before: number | null | undefined,
  carries: (row: TailRow) => boolean,
): void {
  if (row.at === null || before === null || before === undefined) return;
  const newest = walked.first[0]?.at;
  if (row.at >= before) {
    if (row.at < (newest ?? 0) - PROMPT_MS && carries(row)) lateness.missed++;
    return;
  }
  lateness.late++;
  lateness.worstMs = Math.max(lateness.worstMs, (newest ?? row.at) - row.at);
}
