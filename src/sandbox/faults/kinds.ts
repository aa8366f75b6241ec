/** The event that a fault applies to: a REST call or WebSocket handshake, an outgoing frame, or a new post. */
export type FaultPlace = 'call' | 'frame' | 'post';

interface Kind {
  readonly place: FaultPlace;
  /** Whether the fault has a time (by default, it has none), or the default of its time in milliseconds. */
  readonly time?: 'must' | 'may' | number;
  readonly meaning: string;
}

/** All faults except error responses, which are named by their status or code. */
export const faultKinds: Readonly<Record<string, Kind>> = {
  delay: {
    place: 'call',
    time: 'must',
    meaning: 'delays the response (with @ws: the frame) by the given time',
  },
  stall: { place: 'call', meaning: 'reads the request and never responds; not charged' },
  reset: { place: 'call', meaning: 'resets the connection before the request is processed; not charged' },
  lost: { place: 'call', meaning: 'charges the request, then resets the connection' },
  cut: { place: 'call', meaning: 'sends half of the body, then closes the connection; charged' },
  html: {
    place: 'call',
    meaning: 'responds 200 with HTML; charged (with @ws: sends a frame that is not JSON)',
  },
  shape: {
    place: 'call',
    meaning: 'responds with JSON of an undocumented shape; charged (with @ws: sends such a frame)',
  },
  drift: {
    place: 'call',
    meaning: 'removes, nulls, retypes, nests or adds some fields; charged (with @ws: of the frame)',
  },
  drop: {
    place: 'frame',
    time: 'may',
    meaning: 'breaks the WebSocket in place of the frame; with a time: after that time on average',
  },
  close: { place: 'frame', time: 'may', meaning: 'like drop, but with a close frame (1001)' },
  halfopen: {
    place: 'frame',
    time: 'may',
    meaning: 'leaves the WebSocket open, but neither sends nor reads',
  },
  withhold: { place: 'frame', meaning: 'never sends the frame; pages contain the post' },
  dup: { place: 'frame', meaning: 'sends the frame twice' },
  reorder: { place: 'frame', time: 5_000, meaning: 'sends the frame after the next one, or after this time' },
  late: {
    place: 'post',
    time: 60_000,
    meaning: 'publishes the post and its frame late; in pages, the post is below newer ones',
  },
  lag: { place: 'post', time: 2_000, meaning: 'shows the post in pages some time after its frame' },
  vanish: { place: 'post', time: 30_000, meaning: 'deletes the post after the given time' },
};

/** Faults that apply only to calls. The corresponding fault of the WebSocket is `drop`. */
export const callOnly: readonly string[] = ['stall', 'reset', 'lost', 'cut'];
