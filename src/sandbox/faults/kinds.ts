/** Where a fault strikes: a REST call, a frame on its way out of a socket, or a post as it arrives. */
export type FaultPlace = 'call' | 'frame' | 'post';

/** What can go wrong on demand, apart from error answers, which are named by their status or code. */
export const faultKinds = {
  delay: {
    place: 'call',
    time: 'must',
    meaning: 'answers, or frames with @ws, come later by the time given',
  },
  stall: { place: 'call', time: 'no', meaning: 'the request is read and never answered; nothing is charged' },
  reset: {
    place: 'call',
    time: 'no',
    meaning: 'the connection is reset before any work; nothing is charged',
  },
  lost: { place: 'call', time: 'no', meaning: 'the work is done and charged, then the connection is reset' },
  cut: { place: 'call', time: 'no', meaning: 'the body breaks off half-way; charged' },
  html: {
    place: 'call',
    time: 'no',
    meaning: 'a 200 whose body is HTML; charged; with @ws a frame that is no JSON',
  },
  shape: {
    place: 'call',
    time: 'no',
    meaning: 'JSON of another shape than the documented; charged; with @ws such a frame',
  },
  drop: {
    place: 'frame',
    time: 'may',
    meaning: 'the socket breaks instead of sending; with a time, about so often',
  },
  close: { place: 'frame', time: 'may', meaning: 'as drop, but closed in good order (1001)' },
  halfopen: { place: 'frame', time: 'may', meaning: 'the socket goes silent both ways without closing' },
  withhold: { place: 'frame', time: 'no', meaning: 'a frame is never sent; pages hold the post' },
  dup: { place: 'frame', time: 'no', meaning: 'a frame is sent twice' },
  reorder: { place: 'frame', time: 'may', meaning: 'a frame waits until the next was sent (at most 5s)' },
  late: {
    place: 'post',
    time: 'may',
    meaning: 'a post turns up late, below newer ones; its frame comes then (60s)',
  },
  lag: { place: 'post', time: 'may', meaning: 'pages show a post later than its frame (2s)' },
  vanish: { place: 'post', time: 'may', meaning: 'a post is taken out again after the time (30s)' },
} as const satisfies Record<string, { place: FaultPlace; time: 'must' | 'may' | 'no'; meaning: string }>;

export type FaultKind = keyof typeof faultKinds;

/** What those that wait do where no time is given. */
export const defaultTimes: Partial<Record<FaultKind, number>> = {
  reorder: 5_000,
  late: 60_000,
  lag: 2_000,
  vanish: 30_000,
};

export const isFaultKind = (name: string): name is FaultKind => Object.hasOwn(faultKinds, name);
