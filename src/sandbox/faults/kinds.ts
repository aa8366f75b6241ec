/** The event that a fault applies to: a REST call or WebSocket handshake, an outgoing frame, or a new post. */
export type FaultPlace = 'call' | 'frame' | 'post';

interface Kind {
  readonly place: FaultPlace;
  /** Whether the fault has a time, or the default of its time in milliseconds. */
  readonly time: 'must' | 'may' | 'no' | number;
  readonly meaning: string;
}

/** All faults except error responses, which are named by their status or code. */
export const faultKinds = {
  delay: {
    place: 'call',
    time: 'must',
    meaning: 'delays the response (with @ws: the frame) by the given time',
  },
  stall: { place: 'call', time: 'no', meaning: 'reads the request and never responds; not charged' },
  reset: {
    place: 'call',
    time: 'no',
    meaning: 'resets the connection before the request is processed; not charged',
  },
  lost: { place: 'call', time: 'no', meaning: 'charges the request, then resets the connection' },
  cut: { place: 'call', time: 'no', meaning: 'sends half of the body, then closes the connection; charged' },
  html: {
    place: 'call',
    time: 'no',
    meaning: 'responds 200 with HTML; charged (with @ws: sends a frame that is not JSON)',
  },
  shape: {
    place: 'call',
    time: 'no',
    meaning: 'responds with JSON of an undocumented shape, or sends such a frame if @ws is given; charged',
  },
  drift: {
    place: 'call',
    time: 'no',
    meaning:
      'removes, nulls, retypes, nests or adds some fields of the response, or of the frame if @ws is given; charged',
  },
  drop: {
    place: 'frame',
    time: 'may',
    meaning:
      'breaks the WebSocket instead of sending the frame; with a time: breaks it after that time on average',
  },
  close: { place: 'frame', time: 'may', meaning: 'like drop, but with a close frame (1001)' },
  halfopen: {
    place: 'frame',
    time: 'may',
    meaning: 'leaves the WebSocket open, but neither sends nor reads',
  },
  withhold: { place: 'frame', time: 'no', meaning: 'never sends the frame; pages contain the post' },
  dup: { place: 'frame', time: 'no', meaning: 'sends the frame twice' },
  reorder: {
    place: 'frame',
    time: 5_000,
    meaning: 'sends the frame after the next one (after 5s at the latest)',
  },
  late: {
    place: 'post',
    time: 60_000,
    meaning: 'publishes the post and its frame late (60s by default); in pages, the post is below newer ones',
  },
  lag: {
    place: 'post',
    time: 2_000,
    meaning: 'shows the post in pages some time after its frame (2s by default)',
  },
  vanish: { place: 'post', time: 30_000, meaning: 'deletes the post after the given time (30s by default)' },
} as const satisfies Record<string, Kind>;

export type FaultKind = keyof typeof faultKinds;

export const isFaultKind = (name: string): name is FaultKind => Object.hasOwn(faultKinds, name);

/** How a fault or a test ends a connection or makes it silent. */
export type Disconnect = 'drop' | 'close' | 'halfopen';

export const isDisconnect = (kind: string): kind is Disconnect =>
  kind === 'drop' || kind === 'close' || kind === 'halfopen';
