import { type Rng, rngOf } from '../rng.ts';
import { type Schedule, scheduleOf, uneventful } from '../schedule.ts';

/** A fault of the store, and its time. */
export interface StoreFault {
  readonly kind:
    | 'down' // the server stops, and starts again without its last writes, or without any data
    | 'flush' // the server loses all data, while its connections stay
    | 'break' // all connections break
    | 'split' // a replica, which may be empty, takes over, while some clients still use the former primary
    | 'late' // requests arrive late, even after their connection was closed
    | 'full'; // the server accepts no writes
  readonly from: number;
  readonly to: number;
  /** The length of the period whose writes are lost, in ms. */
  readonly lostMs: number;
  /** Whether the server has lost all data at the end of the fault. */
  readonly empty: boolean;
  /** By how much the clock of a replica is wrong. */
  readonly skewMs: number;
  readonly p: number;
}

/** A fault of a process. */
export interface ProcessFault {
  readonly kind: 'kill' | 'pause';
  readonly process: number;
  readonly from: number;
  readonly to: number;
}

/** All parameters of one run of relays and followers. */
export interface RelaySchedule {
  readonly seed: number;
  readonly relays: number;
  readonly followers: number;
  /** The schedule of the service, with its faults. */
  readonly service: Schedule;
  readonly faults: readonly StoreFault[];
  readonly blows: readonly ProcessFault[];
  /** Whether relays that are started again have lost their files. */
  readonly forgetful: boolean;
}

/** By this time, the first leader has published posts. */
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
    ...{ seed, relays, followers, service, forgetful: rng.chance(0.2) },
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
    const kind = rng.pick(['down', 'flush', 'break', 'split', 'late', 'full'] as const);
    const lostMs = kind === 'down' || kind === 'split' ? rng.pick([0, 300, 1_000]) : 0;
    const empty = kind === 'flush' || ((kind === 'down' || kind === 'split') && rng.chance(0.3));
    const fault = {
      ...{ kind, lostMs, empty, skewMs: rng.between(-1_500, 1_500), p: rng.pick([0.05, 0.3]) },
      ...span(200, 15_000),
    };
    // While a server is being replaced, it has no other fault.
    const replaces = kind === 'down' || kind === 'split' || kind === 'flush';
    if (replaces && fault.from < taken) continue;
    if (replaces) taken = fault.to + 2_000;
    faults.push(fault);
  }
  return faults.sort((a, b) => a.from - b.from);
}

/** A run with only the given faults. */
const quiet = (seed: number, given: Partial<RelaySchedule>): RelaySchedule => {
  const schedule = relayScheduleOf(seed);
  const service: Schedule = {
    ...schedule.service,
    ...given.service,
    ...{ via: 'poll', busyMs: 180_000 },
  };
  return { ...schedule, faults: [], blows: [], forgetful: false, ...given, service };
};

const noLoss = { lostMs: 0, empty: false, skewMs: 0, p: 1 };

/** A replica whose clock is 8 s behind takes over, while some clients still use the former primary. */
export function slowReplica(seed: number): RelaySchedule {
  const rng = rngOf(seed, 43);
  const from = rng.between(30_000, 50_000);
  const { service } = relayScheduleOf(seed);
  return quiet(seed, {
    ...{
      relays: 2,
      followers: 2,
      service: { ...service, late: 0, behindMs: 0, rate: 1, lagMs: 2_000 },
    },
    faults: [
      { kind: 'split', from, to: from + rng.between(15_000, 30_000), ...noLoss, skewMs: -8_000 },
    ],
  });
}

/**
 * The store loses everything, once or twice: at once, in an outage, or because an empty replica takes over. Some of the
 * processes may be killed at the same time. The feed may have had hardly any post. Relays and followers know enough to
 * continue without a gap.
 */
export function emptied(seed: number): RelaySchedule {
  const rng = rngOf(seed, 44);
  const given = relayScheduleOf(seed).service;
  const service = rngOf(seed, 46).chance(0.4) ? { ...given, rate: 0.03 } : given;
  const first = rng.between(30_000, 90_000);
  const times = rng.chance(0.5) ? [first] : [first, first + rng.between(30_000, 60_000)];
  return quiet(seed, {
    ...{ relays: 1 + rng.int(2), followers: 2, service },
    faults: times.map((from) => {
      const kind = rng.pick(['down', 'flush', 'split'] as const);
      const skewMs = kind === 'split' ? rng.between(-1_500, 1_500) : 0;
      const to = from + rng.between(500, 20_000);
      return { ...noLoss, kind, empty: true, from, to, skewMs };
    }),
    blows: times.flatMap((from) =>
      rng.chance(0.5)
        ? [
            {
              kind: 'kill' as const,
              process: rng.int(4),
              from: from + rng.between(1, 5_000),
              to: 0,
            },
          ]
        : [],
    ),
  });
}

/**
 * The service loses frames, so that relays publish some posts only after a walk, behind newer ones. Before they have, the
 * store loses everything, and most relays have lost their files.
 */
export function lostBehindFrames(seed: number): RelaySchedule {
  const rng = rngOf(seed, 45);
  const { service } = relayScheduleOf(seed);
  const lost = rng.between(60_000, 150_000);
  const lose = { kind: 'lose', p: rng.pick([0.05, 0.3]), from: 0, to: 1e9 } as const;
  const quietly = quiet(seed, {
    ...{ relays: 2, followers: 2, forgetful: rng.chance(0.7) },
    faults: [{ ...noLoss, kind: 'flush', empty: true, from: lost, to: lost + 1 }],
    blows: rng.chance(0.5)
      ? [{ kind: 'kill', process: rng.int(2), from: lost - rng.between(1, 5_000), to: 0 }]
      : [],
  });
  return {
    ...quietly,
    service: { ...service, via: 'ws', rate: rng.pick([0.3, 1]), busyMs: 180_000, faults: [lose] },
  };
}

/** Followers begin while the feed is read. Later, the store may lose everything, and no relay remembers it. */
export function lateFollowers(seed: number): RelaySchedule {
  const rng = rngOf(seed, 46);
  const { service } = relayScheduleOf(seed);
  const lost = rng.between(50_000, 70_000);
  const pauses = [2, 3].map((process) => ({
    ...{ kind: 'pause' as const, process, from: 0, to: rng.between(20_000, 45_000) },
  }));
  const kills = [0, 1].map((process) => ({
    kind: 'kill' as const,
    process,
    from: lost - 1_000,
    to: 0,
  }));
  const loses = rng.chance(0.5);
  return quiet(seed, {
    ...{ relays: 2, followers: 2, forgetful: true },
    service: { ...service, via: 'poll', rate: rng.pick([0.3, 1]), lagMs: 2_000 },
    faults: loses ? [{ ...noLoss, kind: 'flush', empty: true, from: lost, to: lost + 1 }] : [],
    blows: loses ? [...pauses, ...kills] : pauses,
  });
}

/** Followers are killed again and again while posts come, so that some die right after they have saved a position. */
export function killedFollowers(seed: number): RelaySchedule {
  const rng = rngOf(seed, 47);
  const { service } = relayScheduleOf(seed);
  return quiet(seed, {
    ...{ relays: 1, followers: 2, service: { ...service, rate: 1, lagMs: 2_000 } },
    blows: Array.from({ length: 16 }, () => ({
      kind: 'kill' as const,
      process: 1 + rng.int(2),
      from: rng.between(START_MS, 180_000),
      to: 0,
    })),
  });
}
