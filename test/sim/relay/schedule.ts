import { type Rng, rngOf } from '../rng.ts';
import { type Schedule, scheduleOf, uneventful } from '../schedule.ts';

/** What goes wrong in the store, and when. */
export interface StoreFault {
  readonly kind:
    | 'down' // it stops and starts again without its last writes
    | 'break' // all connections break
    | 'split' // a replica takes over while some clients still use the former master
    | 'late' // requests arrive late, even after their connection was given up
    | 'full'; // it accepts no writes
  readonly from: number;
  readonly to: number;
  /** The writes that are lost: those of the last ms. */
  readonly lostMs: number;
  /** How far the clock of a replica differs. */
  readonly skewMs: number;
  readonly p: number;
}

/** What happens to a process. */
export interface ProcessFault {
  readonly kind: 'kill' | 'pause';
  readonly process: number;
  readonly from: number;
  readonly to: number;
}

/** One run of relays and followers, as a value. */
export interface RelaySchedule {
  readonly seed: number;
  readonly relays: number;
  readonly followers: number;
  /** The service, and what goes wrong there. */
  readonly service: Schedule;
  readonly faults: readonly StoreFault[];
  readonly blows: readonly ProcessFault[];
}

/** The first leader has published by then. */
const START_MS = 20_000;

export function relayScheduleOf(seed: number): RelaySchedule {
  const rng = rngOf(seed, 41);
  const busyMs = rng.between(60_000, 180_000);
  const relays = 2 + rng.int(2);
  const followers = 1 + rng.int(2);
  const service: Schedule = {
    ...scheduleOf(seed),
    ...uneventful,
    ...{ seed, busyMs, ceiling: null, units: null, faults: [] },
    ...{ via: rng.pick(['ws', 'poll', 'poll'] as const), lagMs: rng.pick([2_000, 5_000, 10_000]) },
    ...{ late: rng.pick([0, 0.05]), behindMs: rng.pick([0, 2_000]), rate: rng.pick([0.1, 0.3, 1]) },
  };
  const span = (least: number, most: number) => {
    const from = rng.between(START_MS, busyMs);
    return { from, to: from + rng.between(least, most) };
  };
  return {
    ...{ seed, relays, followers, service },
    faults: storeFaults(rng, span),
    blows: Array.from({ length: rng.int(5) }, () => ({
      kind: rng.pick(['kill', 'pause'] as const),
      process: rng.int(relays + followers),
      ...span(500, 40_000),
    })),
  };
}

type Span = (least: number, most: number) => { readonly from: number; readonly to: number };

function storeFaults(rng: Rng, span: Span): StoreFault[] {
  const faults: StoreFault[] = [];
  let taken = 0;
  for (let left = rng.int(5); left > 0; left--) {
    const kind = rng.pick(['down', 'break', 'split', 'late', 'full'] as const);
    const lostMs = kind === 'down' || kind === 'split' ? rng.pick([0, 300, 1_000]) : 0;
    const fault = {
      ...{ kind, lostMs, skewMs: rng.between(-1_500, 1_500), p: rng.pick([0.05, 0.3]) },
      ...span(200, 15_000),
    };
    // A server that is replaced has no other fault at the time.
    const replaces = kind === 'down' || kind === 'split';
    if (replaces && fault.from < taken) continue;
    if (replaces) taken = fault.to + 2_000;
    faults.push(fault);
  }
  return faults.sort((a, b) => a.from - b.from);
}

/** A run in which nothing goes wrong but what is given. */
const quiet = (seed: number, given: Partial<RelaySchedule>): RelaySchedule => {
  const schedule = relayScheduleOf(seed);
  const service: Schedule = {
    ...schedule.service,
    ...given.service,
    ...{ via: 'poll', busyMs: 180_000 },
  };
  return { ...schedule, faults: [], blows: [], ...given, service };
};

const noLoss = { lostMs: 0, skewMs: 0, p: 1 };

/**
 * The requests of a leader are held up until another one leads, which dies right after the last of them arrived: the next
 * leader starts from what they left.
 */
export function lateRequests(seed: number): RelaySchedule {
  const rng = rngOf(seed, 42);
  // By then, ids are forgotten as the feed moves on.
  const from = rng.between(140_000, 160_000);
  const at = from + rng.between(15_000, 21_000);
  const { service } = relayScheduleOf(seed);
  // Where a poll brings no post, a checkpoint is all that is sent.
  const sparse = { ...service, late: 0, behindMs: 0, rate: 0.15, lagMs: 10_000 } as const;
  return quiet(seed, {
    ...{ relays: 2, followers: 1, service: sparse },
    faults: [{ kind: 'late', from, to: from + 2_500, ...noLoss }],
    blows: [0, 1].map((process) => ({ kind: 'kill', process, from: at, to: at })),
  });
}

/** A replica whose clock is behind takes over, while a part of the clients stays with the former master for a while. */
export function slowReplica(seed: number): RelaySchedule {
  const rng = rngOf(seed, 43);
  const from = rng.between(30_000, 50_000);
  const { service } = relayScheduleOf(seed);
  return quiet(seed, {
    ...{ relays: 2, followers: 2, service: { ...service, late: 0, behindMs: 0, rate: 1, lagMs: 2_000 } },
    faults: [{ kind: 'split', from, to: from + rng.between(15_000, 30_000), ...noLoss, skewMs: -8_000 }],
  });
}
