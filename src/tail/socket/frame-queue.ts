/** A queue of frames that measures its memory, so that the caller can limit it. */
interface FrameQueue {
  /** The size in bytes, including a fixed overhead for each frame. */
  readonly held: number;
  push(frame: Uint8Array): void;
  next(): Uint8Array | undefined;
}

/** The overhead of a frame in bytes, so that a queue of many small frames is limited too. */
const FRAME_COST = 256;
/** When this many frames of the array were read, they are removed from it. */
const COMPACT_AFTER = 1_024;

export function createFrameQueue(): FrameQueue {
  const frames: (Uint8Array | undefined)[] = [];
  let first = 0;
  let held = 0;
  return {
    get held() {
      return held;
    },
    push(frame) {
      frames.push(frame);
      held += frame.byteLength + FRAME_COST;
    },
    next() {
      const frame = frames[first];
      if (frame === undefined) return undefined;
      frames[first++] = undefined;
      held -= frame.byteLength + FRAME_COST;
      if (first === frames.length) {
        frames.length = 0;
        first = 0;
      } else if (first >= COMPACT_AFTER) {
        frames.splice(0, first);
        first = 0;
      }
      return frame;
    },
  };
}
