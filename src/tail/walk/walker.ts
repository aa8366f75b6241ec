import { createBackoff } from '../../base/backoff.ts';
import type { Failure } from '../../base/failure.ts';
import { hollowFeed } from '../failures.ts';
import type { Flow } from '../flow.ts';
import { type Job, startJob } from '../job.ts';
import type { TailNotice } from '../notice.ts';
import type { TailPorts } from '../ports.ts';
import { createPollSizer } from '../spend/pace.ts';
import type { Timing } from '../timing.ts';
import type { Depth } from './bounds.ts';
import type { Cut } from './page-request.ts';
import { createPageStatus } from './page-status.ts';
import { createRowStack, type RowStack } from './row-stack.ts';
import { planWalk } from './schedule.ts';
import { type Walked, type WalkWorld, walk } from './walk.ts';

/** A finished walk, whose rows are printed next. */
export interface FinishedWalk {
  readonly walked: Walked;
  readonly stack: RowStack;
  readonly depth: Depth;
  /** Whether the run continues; false if no further page can be paid for. */
  readonly continues: boolean;
}

/** The state of the run on which walks depend. */
export interface WalkView {
  readonly mode: 'ws' | 'poll';
  readonly connected: boolean;
  readonly downSince: number;
  readonly pollMs: number;
}

/** Performs one walk at a time, when it is due. */
export interface Walker {
  /** Whether the rows of the first walk were printed. */
  readonly started: boolean;
  readonly busy: boolean;
  /** Whether a deep walk (see `Depth`) is requested and has not started yet. */
  readonly wanted: boolean;
  readonly pages: number;
  /** Why pages cannot be read at the moment; undefined if they can be read. */
  readonly trouble: Failure | undefined;
  readonly waitsUntil: number | undefined;
  /** The progress of the last walk of the run; undefined if the run is not ending. */
  readonly finale: 'wanted' | 'walking' | 'done' | undefined;
  want(): void;
  /** Requests a walk after a new subscription, and further walks that verify the connection. */
  subscribed(): void;
  /** Requests the last walk of the run. */
  end(): void;
  /** Starts a walk that is due, or returns a finished walk. `moved` states whether anything happened. */
  step(view: WalkView): { readonly moved: boolean; readonly finished?: FinishedWalk };
  /** Called when the rows of a walk were printed. */
  emitted(finished: Pick<FinishedWalk, 'walked' | 'depth'>): void;
  due(view: WalkView): number;
  settled(): Promise<void>;
}

interface WalkerWorld {
  readonly world: TailPorts;
  readonly timing: Timing;
  readonly flow: Flow;
  readonly lagMs: number;
  /** After this many failures of the first page of the run, the run ends. */
  readonly firstTries: number;
  readonly nameless: WalkWorld['nameless'];
  readonly afford: WalkWorld['afford'];
  readonly paid: (cu: number) => void;
  readonly lost: (cu: number) => void;
  /** Whether walks wait, instead of ending, while a budget or the allowance of the key is used up. */
  readonly waitForBudget: boolean;
  readonly notify: (notice: TailNotice) => void;
  readonly wake: () => void;
  readonly signal: AbortSignal;
}

/**
 * After this many incomplete walks in a row, a gap is reported. A walk that reads only empty pages does not lead to a
 * gap: it is repeated.
 */
const WALK_TRIES = 3;
/** Why a walk made no progress, for the notice that the walk is repeated. */
const stalls: Partial<Record<Cut, string>> = {
  cursor: 'the service rejected the cursor of the next page',
  denied: 'the service reported the end of the feed too early',
};

export function createWalker({ world, timing, flow, notify, wake, signal, ...given }: WalkerWorld): Walker {
  const { clock, source } = world;
  const sizer = createPollSizer(source.sizes);
  const backoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, world.random);
  const status = createPageStatus(clock, notify, signal);
  let walking:
    | { readonly job: Job<Walked>; readonly stack: RowStack; depth: Depth; readonly urgent: boolean }
    | undefined;
  let last: RowStack | undefined;
  let finale: Walker['finale'];
  let started = false;
  let wanted = false;
  let lastAt = Number.NEGATIVE_INFINITY;
  let printedAt = Number.NEGATIVE_INFINITY;
  let gapAt = Number.NEGATIVE_INFINITY;
  let confirmed = 0;
  let failures = 0;
  let retryAt = Number.NEGATIVE_INFINITY;

  const plan = ({ mode, connected, downSince, pollMs }: WalkView) => {
    const next = planWalk(
      {
        started,
        ending: finale === 'wanted',
        wanted,
        mode,
        connected,
        lastAt,
        printedAt,
        gapAt,
        confirmed,
        downSince,
        pollMs,
        lagMs: given.lagMs,
      },
      timing,
    );
    return next.due >= retryAt ? next : { ...next, due: retryAt };
  };

  /**
   * How far the walk reads. This is decided only when the first page has arrived, because a verification may
   * have become due while the page was requested.
   */
  const depthNow = (polls: boolean, urgent: boolean): Depth => {
    if (!started) return 'start';
    const verified = flow.verifiedAt;
    const fresh = verified !== undefined && clock.mono() - verified < timing.auditMs;
    return polls && !urgent && fresh ? 'shallow' : 'deep';
  };

  const begin = (polls: boolean, urgent: boolean) => {
    const stack = createRowStack(world.spool);
    lastAt = clock.mono();
    wanted = false;
    const route = () => {
      const depth = depthNow(polls, urgent);
      if (walking) walking.depth = depth;
      return flow.route(depth);
    };
    const job = startJob(wake, () =>
      walk({
        clock,
        random: world.random,
        source,
        sizer,
        stack,
        tries: () => (status.pages > 0 ? Number.POSITIVE_INFINITY : given.firstTries),
        route,
        signal,
        backoff: { firstMs: timing.backoffMs, maxMs: timing.backoffMaxMs },
        nameless: given.nameless,
        afford: given.afford,
        paid(cu) {
          status.paid();
          given.paid(cu);
        },
        lost: given.lost,
        renewal: given.waitForBudget ? status.renewal : undefined,
        wait: status.wait,
      }),
    );
    walking = { job, stack, depth: depthNow(polls, urgent), urgent };
  };

  /**
   * Schedules the repetition of a walk that made no progress. Returns false if a gap must be reported instead;
   * throws if the run must end.
   */
  const repeatWalk = ({ rows }: Walked, cut: Cut, urgent: boolean): boolean => {
    failures++;
    if (rows === 0 && !started && failures >= given.firstTries) throw hollowFeed();
    if (rows > 0 && failures >= WALK_TRIES) return false;
    const ms = backoff.next();
    retryAt = clock.mono() + ms;
    wanted ||= urgent && started && !finale;
    if (finale === 'walking') finale = 'wanted';
    notify({ kind: 'wait', ms, reason: stalls[cut] ?? 'the service sent pages without new posts' });
    return true;
  };

  const take = (): FinishedWalk | undefined => {
    const outcome = walking?.job.outcome;
    if (!walking || !outcome) return undefined;
    const { stack, depth, urgent } = walking;
    walking = undefined;
    last = stack;
    if ('error' in outcome) throw outcome.error;
    const walked = outcome.value;
    const continues = walked.cut !== 'ceiling' && walked.cut !== 'budget' && walked.cut !== 'quota';
    if (walked.cut && continues && repeatWalk(walked, walked.cut, urgent)) return undefined;
    if (continues) {
      failures = 0;
      backoff.reset();
    }
    if (urgent) gapAt = walked.startedAt;
    return { walked, stack, depth, continues };
  };

  return {
    get started() {
      return started;
    },
    get busy() {
      return walking !== undefined;
    },
    get wanted() {
      return wanted;
    },
    get pages() {
      return status.pages;
    },
    get trouble() {
      return status.trouble;
    },
    get waitsUntil() {
      return status.waitsUntil;
    },
    get finale() {
      return finale;
    },
    want() {
      wanted = true;
    },
    subscribed() {
      wanted = true;
      confirmed = 0;
    },
    end() {
      finale = 'wanted';
    },
    step(view) {
      if (walking) {
        if (!walking.job.outcome) return { moved: false };
        const finished = take();
        return finished ? { moved: true, finished } : { moved: true };
      }
      if (flow.filling || finale === 'walking' || finale === 'done') return { moved: false };
      const { due, why } = plan(view);
      if (clock.mono() < due) return { moved: false };
      if (why === 'confirm') confirmed++;
      if (why === 'final') finale = 'walking';
      begin(why === 'poll' || why === 'outage', wanted || why === 'final');
      return { moved: true };
    },
    emitted({ walked, depth }) {
      // If the run is already ending when its first walk completes, that walk is also the last one.
      if (!started && finale === 'wanted') finale = 'done';
      started = true;
      printedAt = clock.mono();
      // An incomplete shallow walk reports no gap, so the next walk must be deep and read what is missing.
      if (walked.cut && depth === 'shallow') wanted = true;
      if (finale === 'walking') finale = 'done';
    },
    due(view) {
      const isBusy = walking || flow.filling || finale === 'walking' || finale === 'done';
      return isBusy ? Number.POSITIVE_INFINITY : plan(view).due;
    },
    async settled() {
      await walking?.job.settled;
      await walking?.stack.clear();
      await last?.clear();
    },
  };
}
