import type { Failure } from '../base/failure.ts';
import { cu } from '../contract/limits.ts';
import { createPageSizer, type PageSizer } from '../core/pages/page-size.ts';
import type { StopCode } from '../core/pages/read-pages.ts';
import type { Job } from './background-job.ts';
import { FeedRate } from './feed-rate.ts';
import { KnownPosts } from './known.ts';
import type { EndReason, Gap, TailNotice } from './notice.ts';
import { Saver } from './output/saver.ts';
import { TailWriter } from './output/writer.ts';
import type { TailOptions, TailPorts } from './ports.ts';
import { NamelessCounter } from './posts-without-id.ts';
import { Session } from './socket/session.ts';
import { type PollReason, planSpend, type SpendPlan } from './spend/stream-or-poll.ts';
import { Money } from './spend/units-left.ts';
import { modeOf, openLink } from './state.ts';
import { timing as defaults, type Timing } from './timing.ts';
import { Wakeup } from './wakeup.ts';
import { RowStack } from './walk/walk-rows.ts';

interface Ending {
  readonly reason: EndReason;
  readonly failure?: unknown;
}

/**
 * How far back a walk reads. `start`: until the start of a new run is known. `deep`: until three posts in a row are
 * verified, which verifies all newer ones. `shallow`: to the first post that needs no delivery.
 */
export type Depth = 'start' | 'deep' | 'shallow';

export interface Walked {
  readonly depth: Depth;
  /** Why the walk did not reach its goal; undefined if it did. */
  readonly cut: StopCode | 'unpaid' | undefined;
  readonly failure: Failure | undefined;
  /** The monotonic time at which the first page was requested. */
  readonly startedAt: number;
  /** The same by the clock of this machine. */
  readonly readAt: number;
  readonly pages: number;
  readonly rows: number;
  readonly oldest: number | null;
  /** The post times of the newest page. */
  readonly times: readonly (number | null)[];
  /** The posts by which the clock of the feed advanced, and by how many milliseconds it did. */
  readonly newer: number;
  readonly coveredMs: number;
  /** For a walk to the start: from after which post time on posts are new; null if no post has a time. */
  readonly from: number | null;
  /** For a walk to the start: the newest post time of the posts that are not printed. */
  readonly skippedTo: number | null;
}

/** A finished walk whose rows are being printed. */
export interface Filling {
  readonly walked: Walked;
  left: number;
  /** The rows that were printed, and those of them that the WebSocket should have delivered. */
  printed: number;
  missed: number;
}

/** The state of the walks. All times are monotonic. */
interface Walks {
  isPlaced: boolean;
  isStarted: boolean;
  job: Job<Walked> | undefined;
  stack: RowStack;
  /** Whether a deep walk is requested and has not begun. */
  isWanted: boolean;
  isUrgent: boolean;
  /**
   * The start of the last walk, of the last deep one that was complete or given up, of the last complete one, and of the
   * last one that was requested.
   */
  lastAt: number;
  verifiedAt: number | undefined;
  completeAt: number | undefined;
  gapAt: number;
  printedAt: number;
  /** The earliest start of the next walk, after one that did not reach its goal. */
  retryAt: number;
  confirmed: number;
  failures: number;
  /** Whether deep walks read so much that they are made less often. */
  isLong: boolean;
  finale: 'wanted' | 'walking' | 'done' | undefined;
  pages: number;
  trouble: Failure | undefined;
  waitsUntil: number | null;
}

/** Everything that one run of a tail knows. The functions of this folder read it and change it. */
export interface Run {
  readonly ports: TailPorts;
  readonly options: TailOptions;
  readonly timing: Timing;
  readonly notify: (notice: TailNotice) => void;
  readonly wakeup: Wakeup;
  readonly signal: AbortSignal;
  readonly known: KnownPosts;
  readonly money: Money;
  readonly session: Session;
  readonly writer: TailWriter;
  readonly saver: Saver | undefined;
  readonly sizer: PageSizer;
  readonly nameless: NamelessCounter;
  /** The spending limit with which the walk that ended at the limit would have reached what is verified. */
  neededCeiling: number | null;
  readonly rate: FeedRate;
  readonly walks: Walks;
  readonly gaps: Gap[];
  filling: Filling | undefined;
  left: number;
  /** Whether the last rows of --count are on their way. */
  isDrained: boolean;
  filled: number;
  late: number;
  frames: number;
  blockedAt: number | undefined;
  /** Why the tail polls, although the feed has a WebSocket. */
  polling: PollReason | undefined;
  /** Up to when the minutes of the connection were decided about. */
  decidedTo: number;
  began: number;
  /** By when the last walk must be done, and how many pages were read before it; undefined before the end. */
  closing: { readonly at: number; readonly pages: number } | undefined;
  ending: Ending | undefined;
}

export const now = (run: Run): number => run.ports.clock.mono();
export const mode = (run: Run) => modeOf(run.session.state);
export const isConnected = (run: Run): boolean => openLink(run.session.state) !== undefined;
export const auditMs = ({ timing, walks }: Run): number =>
  walks.isLong ? timing.longAuditMs : timing.auditMs;

const runLeftMs = (run: Run): number => {
  const { durationMs } = run.options;
  return durationMs === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(0, run.began + durationMs - now(run));
};

export function spendPlan(run: Run): SpendPlan {
  const { money, walks, session, options, ports } = run;
  const time = ports.clock.now();
  const connected = isConnected(run);
  const plan = planSpend({
    via: options.via,
    cheapest: options.cheapest ?? false,
    hasSocket: ports.connect !== undefined,
    live: money.facts?.live ?? null,
    lagMs: options.lagMs,
    rate: run.rate.perSecond,
    ratePerMinute: money.facts?.ratePerMinute ?? null,
    step: ports.source.sizes.step,
    stepCu: ports.source.stepCu,
    auditMs: auditMs(run),
    latenessMs: run.timing.latenessMs,
    limitLeft: options.limitLeft?.() ?? null,
    allowanceLeft: money.allowanceLeft,
    // What a renewed budget has left is not known before the next answer of `me`.
    budgets: money.budgets.filter(({ renewsAt }) => renewsAt > time),
    reserved: connected ? 2 * cu.socketMinute : 0,
    shareLeft: money.shareLeft(session.minutes),
    shortSessions: session.shortSessions,
    now: time,
    runLeftMs: runLeftMs(run),
    sincePollMs: walks.isStarted ? now(run) - walks.lastAt : 0,
  });
  // Do not begin to stream before it is known what a renewed budget has left.
  const isUnknown = !connected && money.budgets.some(({ renewsAt }) => renewsAt <= time);
  if (plan.why !== undefined || (time >= money.refusedUntil && !isUnknown)) return plan;
  return { ...plan, why: 'budget' };
}

/** Ends the run; the first call decides why. */
export function finish(run: Run, reason: EndReason, failure?: unknown): void {
  run.ending ??= { reason, failure };
}

export function reportGap(run: Run, gap: Gap): void {
  if (!gap.open) run.gaps.push(gap);
  run.notify({ kind: 'gap', ...gap });
}

export function skipNameless(run: Run, records: Parameters<Run['nameless']['add']>[0]): void {
  if (run.nameless.add(records)) run.notify({ kind: 'nameless' });
}

const never = Number.NEGATIVE_INFINITY;

export function createRun(ports: TailPorts, options: TailOptions, signal: AbortSignal): Run {
  const { clock } = ports;
  const timing: Timing = { ...defaults, ...options.timing };
  const wakeup = new Wakeup(clock);
  const { start } = options;
  const since = start.kind === 'since' ? start.at - 1 : null;
  const known =
    start.kind === 'position'
      ? new KnownPosts(start.position, start.position.verified)
      : new KnownPosts({ start: since, verified: since });
  const connect = options.via === 'poll' ? undefined : ports.connect;
  const { save } = ports;
  const take = () => (walks.isPlaced ? { feed: options.feed, ...known.state } : undefined);
  const walks: Walks = {
    isPlaced: start.kind === 'since' || start.kind === 'position',
    isStarted: false,
    job: undefined,
    stack: new RowStack(ports.spool),
    isWanted: false,
    isUrgent: false,
    lastAt: never,
    verifiedAt: undefined,
    completeAt: undefined,
    gapAt: never,
    printedAt: never,
    retryAt: never,
    confirmed: 0,
    failures: 0,
    isLong: false,
    finale: undefined,
    pages: 0,
    trouble: undefined,
    waitsUntil: null,
  };
  const run: Run = {
    ports: { ...ports, connect },
    options,
    timing,
    notify: options.on ?? (() => {}),
    wakeup,
    signal,
    known,
    money: new Money({ ...ports, connect }, options, timing, wakeup.wake, signal),
    session: new Session({ ...ports, connect }, options, timing, wakeup.wake, signal),
    writer: new TailWriter(ports.sink, wakeup.wake, clock.now),
    // A position from which this run continues is as good as a newer one.
    saver: save && new Saver(clock, wakeup.wake, ports.sink, save, take, start.kind === 'position'),
    sizer: createPageSizer(ports.source.sizes),
    nameless: new NamelessCounter(),
    rate: new FeedRate(clock.mono()),
    neededCeiling: null,
    walks,
    gaps: [],
    filling: undefined,
    left: options.count ?? Number.POSITIVE_INFINITY,
    isDrained: false,
    filled: 0,
    late: 0,
    frames: 0,
    blockedAt: undefined,
    polling: undefined,
    decidedTo: never,
    began: clock.mono(),
    closing: undefined,
    ending: undefined,
  };
  return run;
}
