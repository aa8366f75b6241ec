import type { TailRow } from '../row.ts';
import type { Walked } from './walk.ts';

/** The maximum delay of a frame after its post appears in pages. */
const PROMPT_MS = 15_000;

/** How late the new rows of a walk were. */
export interface Lateness {
  late: number;
  worstMs: number;
  /** The number of rows that the WebSocket should have delivered before the walk. */
  missed: number;
}

/** Counts a new row of a walk. `before` is the post time of the newest post that was verified before this walk. */
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
