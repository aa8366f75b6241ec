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
import { createRowStack, type RowStack } from './row-stack.ts';
import { planWalk } from './schedule.ts';
import { type Walked, type WalkWorld, walk } from './walk.ts';

/** A walk that is over, to be emitted. */
export interface Taken {
  readonly walked: Walked;
  readonly pile: RowStack;
  readonly depth: Depth;
  /** The run continues, whatever the walk missed; false where nothing more can be paid for. */
  readonly goOn: boolean;
}

/** The state of the run as far as walks depend on it. */
export interface WalkView {
  readonly way: 'ws' | 'poll';
  readonly connected: boolean;
  readonly downSince: number;
  readonly pollMs: number;
}

/** Makes one walk at a time, each when it is due. */
export interface Walker {
  /** The first walk has been emitted. */
  readonly started: boolean;
  readonly busy: boolean;
  /** A walk that has not begun yet is wanted, and goes down to the margin. */
  readonly wanted: boolean;
  readonly pages: number;
  /** Why the pages cannot be read at the moment. */
  readonly trouble: Failure | undefined;
  /** The last walk of the run: not requested, due, under way, emitted. */
  readonly finale: 'wanted' | 'walking' | 'done' | undefined;
  want(): void;
  /** A new subscription wants a walk, and others that confirm it. */
  subscribed(): void;
  /** Makes one more walk, and none after it. */
  end(): void;
  /** Begins a walk that is due, or hands over one that is done; `moved` says that it did something. */
  step(view: WalkView): { readonly moved: boolean; readonly taken?: Taken };
  /** A walk that was handed over has been emitted. */
  emitted(taken: Pick<Taken, 'walked' | 'depth'>): void;
  due(view: WalkView): number;
  settled(): Promise<void>;
}

interface WalkerWorld {
  readonly world: TailPorts;
  readonly timing: Timing;
  readonly flow: Flow;
  readonly lagMs: number;
  /** A page that fails so often before anything came of the run ends it. */
  readonly firstTries: number;
  readonly nameless: WalkWorld['nameless'];
  readonly afford: WalkWorld['afford'];
  readonly paid: (cu: number) => void;
  readonly lost: (cu: number) => void;
  /** Waits where a budget is used up. */
  readonly waitForBudget: boolean;
  readonly notify: (notice: TailNotice) => void;
  readonly wake: () => void;
  readonly signal: AbortSignal;
}

/** Walks that may lead nowhere before a gap is said. */
const WALK_TRIES = 3;
/** A budget that is used up is tried again so often: it may have been raised. */
const BUDGET_MS = 10 * 60_000;

export function createWalker({ world, timing, flow, notify, wake, signal, ...given }: WalkerWorld): Walker {
  const { clock, source } = world;
  const sizer = createPollSizer(source.sizes);
  const backoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, world.random);
  let walking:
    | { readonly job: Job<Walked>; readonly pile: RowStack; depth: Depth; readonly urgent: boolean }
    | undefined;
  let last: RowStack | undefined;
  let finale: Walker['finale'];
  let started = false;
  let wanted = false;
  let pages = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let gapAt = Number.NEGATIVE_INFINITY;
  let confirmed = 0;
  let failures = 0;
  let retryAt = Number.NEGATIVE_INFINITY;
  let trouble: Failure | undefined;
  let withoutBudget = false;

  /** Waits for a budget to renew, or to be raised. The clock of the machine decides, since it may have been suspended. */
  const renewal = async (failure: Failure) => {
    const ms = 1_000 * (failure.retryAfter ?? 0);
    trouble = failure;
    if (!withoutBudget) notify({ kind: 'budget', until: clock.now() + ms, reason: failure.message });
    withoutBudget = true;
    await clock.sleep(Math.min(BUDGET_MS, Math.max(1_000, ms)), signal);
  };

  const plan = ({ way, connected, downSince, pollMs }: WalkView) => {
    const { lagMs } = given;
    const ending = finale === 'wanted';
    const next = planWalk(
      { started, ending, wanted, way, connected, lastAt, gapAt, confirmed, downSince, pollMs, lagMs },
      timing,
    );
    return next.due >= retryAt ? next : { ...next, due: retryAt };
  };

  /** Decided when the first page is there: however long that took, no row comes out on an old proof. */
  const depthNow = (way: WalkView['way'], urgent: boolean): Depth => {
    if (!started) return 'start';
    const proven = flow.provenAt;
    const fresh = proven !== undefined && clock.mono() - proven < timing.auditMs;
    return way === 'poll' && !urgent && fresh ? 'shallow' : 'deep';
  };

  const begin = (way: WalkView['way'], urgent: boolean) => {
    const pile = createRowStack(world.spool);
    const tries = started ? Number.POSITIVE_INFINITY : given.firstTries;
    lastAt = clock.mono();
    wanted = false;
    const route = () => {
      const depth = depthNow(way, urgent);
      if (walking) walking.depth = depth;
      return flow.route(depth);
    };
    const job = startJob(wake, () =>
      walk({
        ...{ clock, random: world.random, source, sizer, pile, tries, route, signal },
        backoff: { firstMs: timing.backoffMs, maxMs: timing.backoffMaxMs },
        nameless: given.nameless,
        afford: given.afford,
        paid(cu) {
          pages++;
          trouble = undefined;
          if (withoutBudget) notify({ kind: 'renewed' });
          withoutBudget = false;
          given.paid(cu);
        },
        lost: given.lost,
        renewal: given.waitForBudget ? renewal : undefined,
        wait(ms, failure) {
          trouble = failure;
          notify({ kind: 'wait', ms, reason: failure.message });
        },
      }),
    );
    walking = { job, pile, depth: depthNow(way, urgent), urgent };
  };

  /** A walk that led nowhere is made again, a little later; a gap is said only when that does not help either. */
  const again = ({ rows }: Walked, urgent: boolean): boolean => {
    failures++;
    if (rows === 0 && !started && failures >= given.firstTries) throw hollowFeed();
    if (rows > 0 && failures >= WALK_TRIES) return false;
    const ms = backoff.next();
    retryAt = clock.mono() + ms;
    wanted ||= urgent && started && !finale;
    if (finale === 'walking') finale = 'wanted';
    notify({ kind: 'wait', ms, reason: 'the pages led nowhere' });
    return true;
  };

  const take = (): Taken | undefined => {
    const outcome = walking?.job.outcome;
    if (!walking || !outcome) return undefined;
    const { pile, depth, urgent } = walking;
    walking = undefined;
    last = pile;
    if ('error' in outcome) throw outcome.error;
    const walked = outcome.value;
    const goOn = walked.cut !== 'ceiling' && walked.cut !== 'budget' && walked.cut !== 'quota';
    if (walked.cut && goOn && again(walked, urgent)) return undefined;
    if (goOn) {
      failures = 0;
      backoff.reset();
    }
    if (urgent) gapAt = walked.startedAt;
    return { walked, pile, depth, goOn };
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
      return pages;
    },
    get trouble() {
      return trouble;
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
        const taken = take();
        return taken ? { moved: true, taken } : { moved: true };
      }
      if (flow.filling || finale === 'walking' || finale === 'done') return { moved: false };
      const { due, why } = plan(view);
      if (clock.mono() < due) return { moved: false };
      if (why === 'confirm') confirmed++;
      if (why === 'final') finale = 'walking';
      begin(view.way, wanted || why === 'final');
      return { moved: true };
    },
    emitted({ walked, depth }) {
      // A first walk that ends after the run's time is up is its last one.
      if (!started && finale === 'wanted') finale = 'done';
      started = true;
      // A shallow walk that broke off proves nothing, and the next one has to.
      if (walked.cut && depth === 'shallow') wanted = true;
      if (finale === 'walking') finale = 'done';
    },
    due(view) {
      const rings = walking || flow.filling || finale === 'walking' || finale === 'done';
      return rings ? Number.POSITIVE_INFINITY : plan(view).due;
    },
    async settled() {
      await walking?.job.settled;
      await walking?.pile.clear();
      await last?.clear();
    },
  };
}
