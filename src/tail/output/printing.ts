import type { Clock } from '../../base/clock.ts';
import type { Filled, Flow } from '../flow.ts';
import type { EndReason, TailNotice } from '../notice.ts';
import type { TailReport } from '../report.ts';
import type { Session } from '../socket/session.ts';
import { subscribedLink } from '../state.ts';
import type { Timing } from '../timing.ts';
import type { Walker } from '../walk/walker.ts';
import type { Checkpointer } from './checkpointer.ts';
import type { TailWriter } from './writer.ts';

/** Prints rows: the rows of a walk first, then those of frames. */
export interface Printing {
  /** Prints the next rows; returns whether there was anything to do. */
  step(): Promise<boolean>;
  readonly due: number;
  /** Returns the number of frames that were read from the queue since the last call. */
  takeFrames(): number;
  /** The number of frames that were read from the queue since the last call of `takeFrames`. */
  readonly frames: number;
  /**
   * Called after the rows of a walk with this start time were printed. If frames are waiting and the walk started
   * after they were read, prints them.
   */
  walked(startedAt: number): void;
}

interface PrintingParts {
  readonly clock: Clock;
  readonly timing: Timing;
  readonly flow: Flow;
  readonly writer: TailWriter;
  readonly checkpointer: Checkpointer | undefined;
  readonly session: Session;
  readonly walker: Walker;
  readonly report: TailReport;
  /** Whether a later run can resume only from the lines of the output file. */
  readonly byFile: boolean;
  readonly notify: (notice: TailNotice) => void;
  /** Called when the rows of a walk were printed. */
  readonly filled: (done: Filled) => void;
  readonly finish: (reason: EndReason) => void;
}

const never = Number.POSITIVE_INFINITY;

export function createPrinting(parts: PrintingParts): Printing {
  const { clock, timing, flow, writer, checkpointer, session, walker, report, notify } = parts;
  let frames = 0;
  let heldAt = never;
  let blockedAt: number | undefined;
  /** Whether the last rows of --count are on their way. */
  let drained = false;

  /**
   * Whether frames may be printed now, instead of after the next walk. A later run can resume from a file
   * only if its lines were printed soon after a verification.
   */
  const mayPrintFrames = () =>
    !parts.byFile || (flow.verifiedAt !== undefined && clock.mono() - flow.verifiedAt <= timing.holdMs);

  /**
   * Closes the WebSocket when the output has been blocked for `blockedMs`, because the connection is charged
   * by the minute.
   */
  const blocked = () => {
    blockedAt ??= clock.mono();
    if (!subscribedLink(session.state) || clock.mono() < blockedAt + timing.blockedMs) return;
    blockedAt = never;
    session.drop('blocked', 'the output accepts no rows');
  };

  const printFrames = (): boolean => {
    const { state } = session;
    if (state.kind !== 'live' || !mayPrintFrames()) return false;
    const taken = flow.frames(state.link, report.frame);
    if (taken === 0) return false;
    frames += taken;
    checkpointer?.touch();
    const unverified = flow.takeUnverified();
    if (unverified) notify({ kind: 'unverified', ...unverified });
    if (flow.heldBack) {
      session.catchUp();
      walker.want();
      heldAt = clock.mono();
    }
    return true;
  };

  return {
    async step() {
      if (writer.busy()) {
        blocked();
        return false;
      }
      blockedAt = undefined;
      checkpointer?.step();
      // After the first walk, print no more rows until the first checkpoint is on disk. If trdr crashed without a
      // checkpoint, the next run could start at the newest post and miss the posts between the two runs.
      if (checkpointer && walker.started && !checkpointer.safe) return false;
      if (writer.closed || (flow.full && drained)) {
        parts.finish(writer.closed ? 'reader' : 'count');
        return true;
      }
      if (flow.full) {
        drained = true;
        session.close();
        writer.drain();
        return true;
      }
      if (!flow.filling) return printFrames();
      const done = await flow.fillStep();
      if (done && !flow.full) parts.filled(done);
      checkpointer?.touch();
      return true;
    },
    get due() {
      const busy = writer.busy();
      const drop = busy && blockedAt !== undefined && subscribedLink(session.state);
      return Math.min(
        drop ? (blockedAt ?? never) + timing.blockedMs : never,
        checkpointer && !busy ? checkpointer.due : never,
      );
    },
    get frames() {
      return frames;
    },
    takeFrames() {
      const taken = frames;
      frames = 0;
      return taken;
    },
    walked(startedAt) {
      if (startedAt >= heldAt) flow.release();
    },
  };
}
