/** Frames that wait to be taken, and how much memory they take. */
export interface FrameQueue {
  /** Bytes, with what each frame costs beside its own. */
  readonly held: number;
  push(frame: Uint8Array): void;
  next(): Uint8Array | undefined;
}

/** What a small frame takes beside its bytes: a queue of them must be bounded as well. */
const FRAME_COST = 256;
/** Taken frames whose places are kept, so that the rest is not moved up for each of them. */
const TAKEN = 1_024;

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
      } else if (first >= TAKEN) {
        frames.splice(0, first);
        first = 0;
      }
      return frame;
    },
  };
}
