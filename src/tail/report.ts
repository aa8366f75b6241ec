import type { Filled } from './flow.ts';
import { createNamelessCounter } from './nameless.ts';
import type { Gap, TailNotice } from './notice.ts';
import type { PostFields } from './row.ts';
import type { ReadFrame } from './socket/other-frame.ts';

/** Counts rows and gaps, and reports what could not be read. */
export interface TailReport {
  readonly gaps: readonly Gap[];
  readonly counts: { readonly filled: number; readonly late: number; readonly nameless: number };
  /** Reports a part of the feed that was not read. It counts as a gap unless the next run will read it. */
  gap(gap: Gap): void;
  /**
   * Called after the rows of a walk were printed. `catchingUp` means that this was the first walk, or that
   * frames waited for the walk. `filled` means that the WebSocket should have delivered these rows.
   */
  walked(done: Filled, how: { readonly catchingUp: boolean; readonly filled: boolean }): void;
  /** Called with posts that were skipped because they have no id. */
  nameless(records: readonly PostFields[]): void;
  /** Called with the content of a frame that is not a post with an id. */
  frame(frame: Exclude<ReadFrame, { kind: 'row' }>): void;
}

export function createTailReport(notify: (notice: TailNotice) => void): TailReport {
  const counter = createNamelessCounter();
  const gaps: Gap[] = [];
  let filled = 0;
  let late = 0;

  const gap = (found: Gap) => {
    if (!found.open) gaps.push(found);
    notify({ kind: 'gap', ...found });
  };
  const nameless = (records: readonly PostFields[]) => {
    if (counter.add(records)) notify({ kind: 'nameless' });
  };

  return {
    gaps,
    get counts() {
      return { filled, late, nameless: counter.count };
    },
    gap,
    nameless,
    walked(done, how) {
      if (done.gap) gap(done.gap);
      if (how.filled) filled += done.rows;
      late += done.late;
      if (done.late > 0) notify({ kind: 'late', rows: done.late, worstMs: done.worstMs });
      if (how.catchingUp) notify({ kind: 'caughtUp', rows: done.rows, pages: done.walked.pages });
    },
    frame(frame) {
      if (frame.kind === 'nameless') nameless([frame.record]);
      if (frame.kind === 'unreadable') notify({ kind: 'frame', text: frame.why });
      if (frame.kind === 'error') notify({ kind: 'frame', text: frame.text });
    },
  };
}
