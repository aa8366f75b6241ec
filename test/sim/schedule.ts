import type { ConfluenceRule } from '../../src/tail/confluence.ts';
import type { CooldownRule } from '../../src/tail/cooldown.ts';
import { type Rng, rngOf } from './rng.ts';

/** A fault and its period. `p` is the probability for each request, frame or page. */
export type Fault = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'lose' | 'double' | 'reorder' | 'lag'; readonly p: number }
  | { readonly kind: 'close' | 'reset' | 'half' | 'forget' | 'sleep' | 'policy' | 'kill' }
  | { readonly kind: 'refuse'; readonly status: number }
  | { readonly kind: 'mute' }
  /** No post appears in pages or frames; afterwards, those that were posted meanwhile appear in order. */
  | { readonly kind: 'still' }
  | {
      readonly kind:
        | 'busy'
        | 'fault'
        | 'cut'
        | 'break'
        | 'foreign'
        | 'slow'
        | 'evict'
        | 'hollow'
        | 'repeat'
        | 'stale'
        | 'last';
      readonly p: number;
    }
  | { readonly kind: 'quota' }
  | { readonly kind: 'slowOut' | 'blockOut' }
);

/** What a restarted process resumes from. */
export type ResumeBy = 'none' | 'checkpoint' | 'file' | 'both';

/** The responses to a subscription: the documented one, variants, an unrelated frame, and none. */
export const acknowledgements = [
  'described',
  'named',
  'bare',
  'wrapped',
  'unknown',
  'none',
] as const;
export type Acknowledgement = (typeof acknowledgements)[number];

/** A command that posts are handed over to. */
export interface ExecSchedule {
  readonly batch: number;
  readonly lingerMs: number;
  readonly tries: number;
  /**
   * The probability that the command fails before or after it has processed a batch, and its maximum
   * duration.
   */
  readonly fails: number;
  readonly slowMs: number;
  /** When the command recovers. */
  readonly untilMs: number;
  /** The safeguard that is removed. */
  readonly flaw?: 'forgets' | 'skips' | 'early' | 'no start';
}

/** All parameters of one simulation: the same schedule always gives the same run. */
export interface Schedule {
  readonly seed: number;
  readonly feed: 'thesis' | 'callout';
  readonly via: 'auto' | 'ws' | 'poll';
  readonly lagMs: number;
  readonly start:
    | { readonly kind: 'now' }
    | { readonly kind: 'backfill'; readonly rows: number }
    | { readonly kind: 'since'; readonly ago: number };
  readonly resume: ResumeBy;
  /** What a restarted process finds of the position of its file: the last one, an older one, or none. */
  readonly position?: 'last' | 'old' | 'lost';
  readonly sifted: boolean;
  /** Whether the posts of two of three authors are wanted, who have pages of their own. */
  readonly desk?: boolean;
  /** Posts per second. */
  readonly rate: number;
  readonly bursts: number;
  readonly busyMs: number;
  readonly late: number;
  readonly vanish: number;
  /** The age at which posts leave the pages, if there is one. */
  readonly retentionMs?: number;
  /** The probability of a post that is dated far back, which only the socket delivers. */
  readonly old: number;
  /** The probability of a post with an unusable time, and of a post without an id. */
  readonly odd: number;
  readonly nameless: number;
  /** The response to a subscription, and whether the service sends pings. */
  readonly answer: Acknowledgement;
  readonly pings: boolean;
  /** How many of the frames that were delivered last a new subscription repeats. */
  readonly repeats?: number;
  /** The maximum time from the frame of a post until pages show it. */
  readonly behindMs: number;
  /** Whether pages have at most 20 rows, whatever the limit. */
  readonly twenty: boolean;
  readonly timeless: boolean;
  readonly billing: 'started' | 'seconds';
  readonly skew: number;
  readonly ceiling: number | null;
  readonly units: number | null;
  readonly end: 'stop' | 'duration';
  readonly faults: readonly Fault[];
  /** Whether confluences are printed in place of posts. */
  readonly rule?: ConfluenceRule;
  /** Whether posts with the same value are held back. */
  readonly cooldown?: CooldownRule;
  /** Whether posts are handed over to a command. */
  readonly exec?: ExecSchedule | undefined;
  /** After how many calls of its ports each process is killed. */
  readonly kills: readonly number[];
}

const pageFaults = [
  'busy',
  'fault',
  'cut',
  'break',
  'slow',
  'evict',
  'hollow',
  'repeat',
  'stale',
] as const;
const frameFaults = ['lose', 'double', 'reorder', 'lag'] as const;
const linkFaults = ['close', 'reset', 'half', 'forget', 'sleep'] as const;
const statuses = [401, 402, 403, 404, 429, 500, 503, 504] as const;

/** The schedule of a seed. */
export function scheduleOf(seed: number): Schedule {
  const rng = rngOf(seed);
  const own = rngOf(seed, 80);
  const callout = rng.chance(0.1);
  const busyMs = 60_000 * rng.between(0.5, 5);
  const resume = rng.pick(['none', 'none', 'checkpoint', 'file', 'file', 'both'] as const);
  const hasFile = resume === 'file' || resume === 'both';
  const kills =
    resume === 'none'
      ? []
      : Array.from({ length: rng.int(4) }, () => 1 + rng.int(rng.chance(0.5) ? 40 : 400));
  const poor = resume === 'none' && rng.chance(0.1);
  const old = rng.pick([0, 0, 0.05, 0.3]);
  const end = rng.pick(['stop', 'duration'] as const);
  const faults = faultsOf(rng, busyMs);
  const during = (least: number, most: number) => spanIn(rng, busyMs, least, most);
  if (poor && rng.chance(0.3))
    faults.push({ kind: rng.pick(['quota', 'policy']), ...during(1e12, 1e12) });
  if (kills.length > 0 && rng.chance(0.3)) faults.push({ kind: 'kill', ...during(0, 0) });
  if (rng.chance(0.15))
    faults.push({ kind: 'last', p: rng.pick([0.3, 1]), ...during(1_000, 90_000) });
  if (rng.chance(0.15)) {
    const { from, to } = during(30_000, 300_000);
    faults.push({ kind: 'still', from, to: Math.min(busyMs, to) });
  }
  // The service fails until the end of the run.
  if (end === 'duration' && rng.chance(0.1))
    faults.push({ kind: rng.pick(['fault', 'busy', 'cut']), p: 1, ...during(1e12, 1e12) });
  // The units of the key are used up, and the tail is started again. A file that ends with a few old posts does not
  // show where its run started; the program also saves its position, which this simulation does not.
  if (resume !== 'none' && !(resume === 'file' && old > 0) && rng.chance(0.15))
    faults.push({ kind: 'quota', ...during(1_000, 30_000) });
  // Something in between answers pages and handshakes in place of the service.
  if (rng.chance(0.3)) {
    const { from, to } = during(100, 90_000);
    const start = rng.chance(0.2) ? from : 0;
    faults.push({
      kind: 'foreign',
      p: rng.pick([0.1, 0.5, 1]),
      from: from - start,
      to: to - start,
    });
  }
  return {
    ...{ seed, busyMs, resume, kills, old, end, faults },
    feed: callout ? 'callout' : 'thesis',
    via: callout ? 'poll' : rng.pick(['auto', 'auto', 'ws', 'poll'] as const),
    lagMs: rng.pick([2_000, 5_000, 10_000, 30_000, 90_000]),
    start: rng.pick([
      { kind: 'now' },
      { kind: 'now' },
      { kind: 'backfill', rows: rng.int(60) },
      { kind: 'since', ago: 1_000 * rng.int(600) },
    ] as const),
    position: hasFile ? rng.pick(['last', 'last', 'old', 'lost'] as const) : 'last',
    sifted: rng.chance(0.25),
    rate: rng.pick([0.02, 0.05, 0.1, 0.2, 0.2, 0.2, 0.5, 1]),
    bursts: rng.chance(0.3) ? rng.int(4) : 0,
    late: rng.pick([0, 0.02, 0.1]),
    vanish: rng.pick([0, 0, 0.02, 0.1]),
    // A run cannot resume from a line without a usable time, so runs that resume from a file have no such posts.
    odd: hasFile ? 0 : rng.pick([0, 0, 0, 0.05, 0.2]),
    nameless: rng.pick([0, 0, 0, 0.1]),
    answer: rng.chance(0.3) ? rng.pick(acknowledgements) : 'described',
    pings: rng.chance(0.8),
    repeats: own.pick([0, 0, 3, 50, 500]),
    behindMs: rng.pick([0, 500, 2_000, 15_000]),
    twenty: rng.chance(0.3),
    timeless: !hasFile && rng.chance(0.05),
    billing: rng.pick(['started', 'seconds'] as const),
    skew: rng.chance(0.3) ? rng.between(-1, 1) * 36_000_000 : 0,
    ceiling: poor ? 200 * rng.int(300) : null,
    units: rng.chance(0.1) ? 20_000 * rng.int(60) : 1e9,
  };
}

/** A period that begins while the service is busy. */
function spanIn(rng: Rng, busyMs: number, least: number, most: number) {
  const from = rng.next() * busyMs;
  return { from, to: from + rng.between(least, most) };
}

function faultsOf(rng: Rng, busyMs: number): Fault[] {
  const p = <K extends Fault['kind']>(kinds: readonly K[], parts: readonly number[]) => ({
    kind: rng.pick(kinds),
    p: rng.pick(parts),
  });
  return Array.from({ length: rng.int(7) }, (): Fault => {
    const span = (least: number, most: number) => {
      const { from, to } = spanIn(rng, busyMs, least, most);
      return { from, to: Math.min(busyMs, to) };
    };
    const sort = rng.int(10);
    if (sort < 3) return { ...p(pageFaults, [0.1, 0.5, 1]), ...span(1_000, 60_000) };
    if (sort < 5) return { ...p(frameFaults, [0.05, 0.3, 1]), ...span(1_000, 60_000) };
    if (sort < 8) return { kind: rng.pick(linkFaults), ...span(0, 1) };
    if (sort === 9)
      return { kind: rng.pick(['slowOut', 'blockOut'] as const), ...span(1_000, 150_000) };
    if (rng.chance(0.3)) return { kind: 'mute', ...span(1_000, 40_000) };
    const status = rng.pick(rng.chance(0.15) ? statuses : ([429, 500, 503, 504] as const));
    return { kind: 'refuse', status, ...span(1_000, 90_000) };
  });
}

/** The parameters of a schedule with ordinary posts and pages, and without faults and kills. */
export const uneventful = {
  ...{
    via: 'ws',
    feed: 'thesis',
    resume: 'none',
    start: { kind: 'now' },
    end: 'stop',
    faults: [],
    kills: [],
  },
  ...{ late: 0, vanish: 0, old: 0, odd: 0, nameless: 0, bursts: 0, behindMs: 0, skew: 0 },
  ...{
    answer: 'described',
    pings: true,
    repeats: 0,
    twenty: false,
    timeless: false,
    sifted: false,
  },
  ...{ ceiling: null, units: null, lagMs: 10_000 },
} as const satisfies Partial<Schedule>;

/** An uneventful schedule with the given parameters. */
export const calm = (seed: number, given: Partial<Schedule>): Schedule => ({
  ...scheduleOf(seed),
  ...uneventful,
  ...given,
});
