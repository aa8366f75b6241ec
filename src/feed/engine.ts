import { Failure } from '../contract/failure.ts';
import type { Subscription } from '../contract/frames.ts';
import { createBackoff } from './backoff.ts';
import { createBell } from './bell.ts';
import { createMeter } from './budget/meter.ts';
import { againstSocket, type PollReason, type Via, type Way } from './budget/ways.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { createFlow, type Depth, type Filled, type StartPoint, startKind } from './flow.ts';
import { type Job, startJob } from './job.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import type { EndReason, Gap, Status, Summary, TailNotice } from './notice.ts';
import { createOutlet } from './outlet.ts';
import { createRate, createSizer, leastSeconds, pollPerMinute, pollSeconds, SOCKET_CU } from './pace.ts';
import { createPile, type Pile } from './pile.ts';
import type { KeyFacts, World } from './ports.ts';
import type { Row } from './row.ts';
import { planWalk } from './schedule.ts';
import { createSession, type Session, type SessionEvent } from './session.ts';
import { timing as defaults, type Timing } from './timing.ts';
import { type Walked, walk } from './walk.ts';
import { createSeen, type Seen } from './watermark/seen.ts';

/** What is asked of a tail. */
export interface TailOptions {
  readonly start: StartPoint;
  readonly via: Via;
  /** The delay aimed at when polling. */
  readonly lagMs: number;
  readonly subscription?: Subscription | undefined;
  /** Whether a frame is of the part of the feed that the pages show; all are, unless given. */
  readonly scope?: ((row: Row) => boolean) | undefined;
  /** What comes out; everything, unless given. */
  readonly sieve?: ((row: Row) => boolean) | undefined;
  /** Rows after which the run ends. */
  readonly count?: number | undefined;
  readonly durationMs?: number | undefined;
  /** CU that the run may spend. */
  readonly ceiling?: number | undefined;
  /** The part of the key's units that the socket may use in `auto`. */
  readonly socketShare?: number | undefined;
  /** Names the feed in a checkpoint. */
  readonly feed: string;
  /** The output is the only thing a later run will go on from: nothing comes out long after the last proof. */
  readonly fileIsCheckpoint?: boolean | undefined;
  readonly on?: ((notice: TailNotice) => void) | undefined;
  readonly timing?: Partial<Timing> | undefined;
  /** Another memory of ids, for tests. */
  readonly seen?: ((floor: number, max: number) => Seen) | undefined;
}

/** A tail: runs once. */
export interface Tail {
  /** Runs until it is told to stop, has done what was asked, or can't go on; a failure is thrown after the `end` notice. */
  run(signal: AbortSignal): Promise<Summary>;
  status(): Status;
}

/** Before the end of a paid minute, the next one is decided on. */
const MINUTE = 60_000;
const DECIDE_MS = 2_000;
/** A page that fails so often before anything came of the run ends it. */
const FIRST_TRIES = 6;
/** Walks that may lead nowhere before a gap is said. */
const WALK_TRIES = 3;
/** Posts that a healthy socket would have delivered, and did not. */
const DEAF_ROWS = 3;

/** Wires the parts together: one loop looks at all of them whenever one of them rings. */
export function createTail(world: World, options: TailOptions): Tail {
  const { clock, source } = world;
  const timing: Timing = { ...defaults, ...options.timing };
  const tell = options.on ?? (() => {});
  const bell = createBell(clock);
  const inner = new AbortController();
  const { signal } = inner;
  const meter = createMeter(clock.mono, source.spent);
  const outlet = createOutlet(world.sink, bell.ring);
  const sizer = createSizer(source.sizes);
  const rate = createRate();
  const price = { step: source.sizes.step, cu: source.price(source.sizes.step) };
  const byFile = options.fileIsCheckpoint ?? options.start.kind === 'file';
  const flow = createFlow({
    start: options.start,
    timing,
    outlet,
    seen: (options.seen ?? createSeen)(Number.NEGATIVE_INFINITY, timing.seenMax),
    scope: options.scope ?? (() => true),
    sieve: options.sieve ?? (() => true),
    count: options.count ?? Number.POSITIVE_INFINITY,
    proveFirst: byFile && !('known' in options.start),
    heals: world.save !== undefined,
  });
  const keeper: Keeper | undefined =
    world.save &&
    createKeeper({
      clock,
      timing,
      ring: bell.ring,
      snapshot,
      flush: () => world.sink.flush(),
      save: world.save,
    });

  const connect = options.via === 'poll' ? undefined : world.connect;
  let way: Way = connect ? 'ws' : 'poll';
  let session: Session | undefined;
  let facts: KeyFacts | undefined;
  let allowanceAtStart: number | null = null;
  let keyJob: Job<KeyFacts> | undefined;
  let keyDue = Number.NEGATIVE_INFINITY;

  let walking:
    | { readonly job: Job<Walked>; readonly pile: Pile; depth: Depth; readonly forGap: boolean }
    | undefined;
  let lastPile: Pile | undefined;
  let started = false;
  let wanted = false;
  /** Frames may come out: a walk that began after the subscription has been emitted. */
  let live = false;
  let lastAt = Number.NEGATIVE_INFINITY;
  let gapAt = Number.NEGATIVE_INFINITY;
  let confirmed = 0;
  let downSince = clock.mono();
  let framesSince = 0;
  let heldAt = Number.POSITIVE_INFINITY;
  let blockedAt: number | undefined;

  let endsAt = Number.POSITIVE_INFINITY;
  let ending: 'wanted' | 'walking' | 'done' | undefined;
  let closingAt = Number.POSITIVE_INFINITY;
  let over: { readonly reason: EndReason; readonly failure?: unknown } | undefined;

  const gaps: Gap[] = [];
  let pages = 0;
  let filled = 0;
  let late = 0;

  function snapshot(): string | undefined {
    const mark = flow.watermark;
    if (!mark) return undefined;
    const horizon = mark.base === null ? Number.NEGATIVE_INFINITY : mark.base - flow.margin.ms;
    const floor = Math.max(horizon, flow.seen.floor);
    return writeCheckpoint({
      feed: options.feed,
      watermark: mark,
      floor: Number.isFinite(floor) ? floor : null,
      known: flow.seen.since(floor),
    });
  }

  const finish = (reason: EndReason, failure?: unknown) => {
    over ??= { reason, failure };
  };

  // --- Units and ways -------------------------------------------------------------------------------------------

  const ceilingLeft = () => (options.ceiling === undefined ? null : options.ceiling - meter.spent.most);
  const afford = (cu: number) => (ceilingLeft() ?? cu) >= cu;
  const pollMs = () =>
    1_000 *
    pollSeconds(rate.perSecond, options.lagMs / 1_000, leastSeconds(facts?.ratePerMinute ?? null), price);
  const perMinute = (of: Way) =>
    of === 'ws' ? SOCKET_CU : pollPerMinute(rate.perSecond, pollMs() / 1_000, price);

  /** What speaks against one more minute of the socket; a minute that is running is not paid for again. */
  const against = (): PollReason | undefined =>
    againstSocket({
      via: options.via,
      hasSocket: connect !== undefined,
      live: facts?.live ?? null,
      ceilingLeft: ceilingLeft(),
      allowanceLeft: facts?.remaining ?? null,
      allowanceAtStart,
      socketShare: options.socketShare ?? 0.1,
      socketSpent: meter.socket,
      shortSessions: session?.shortSessions ?? 0,
    });

  const leaveSocket = (why: PollReason) => {
    if (way === 'poll') return;
    session?.stop();
    if (options.via === 'ws') {
      return finish('failure', cannotHold(why));
    }
    way = 'poll';
    live = false;
    wanted = true;
    tell({ kind: 'fallback', why, perMinute: perMinute('poll') });
  };

  const keyStep = () => {
    const outcome = keyJob?.outcome;
    if (outcome) {
      keyJob = undefined;
      if ('value' in outcome) {
        facts = outcome.value;
        allowanceAtStart ??= facts.remaining;
      }
    }
    if (!world.key || keyJob || clock.mono() < keyDue) return;
    const { key } = world;
    keyDue = clock.mono() + (way === 'ws' ? timing.keyMs : 10 * timing.keyMs);
    keyJob = startJob(bell.ring, () => key(signal));
  };

  // --- Walks ----------------------------------------------------------------------------------------------------

  const plan = () => {
    const next = planWalk(
      {
        started,
        ending: ending === 'wanted',
        wanted,
        way,
        connected: session?.link !== undefined,
        lastAt,
        gapAt,
        confirmed,
        downSince,
        pollMs: pollMs(),
        lagMs: options.lagMs,
      },
      timing,
    );
    return next.due >= retryAt ? next : { ...next, due: retryAt };
  };

  /** Decided when the first page is there: however long that took, no row comes out on an old proof. */
  const depthNow = (): Depth => {
    if (!started) return 'start';
    const proven = flow.provenAt;
    const shallow =
      way === 'poll' && !wanted && !ending && proven !== undefined && clock.mono() - proven < timing.auditMs;
    return shallow ? 'shallow' : 'deep';
  };

  const walkStep = (): boolean => {
    if (walking) return takeWalk();
    if (flow.filling || ending === 'walking' || ending === 'done') return false;
    const { due, why } = plan();
    if (clock.mono() < due) return false;
    const pile = createPile(world.spool);
    const forGap = wanted || why === 'final';
    lastAt = clock.mono();
    if (why === 'confirm') confirmed++;
    if (why === 'final') ending = 'walking';
    let depth: Depth = forGap ? 'deep' : depthNow();
    wanted = false;
    const job = startJob(bell.ring, () =>
      walk({
        clock,
        random: world.random,
        source,
        sizer,
        pile,
        backoff: { firstMs: timing.backoffMs, maxMs: timing.backoffMaxMs },
        tries: started ? Number.POSITIVE_INFINITY : FIRST_TRIES,
        route() {
          if (!forGap) depth = depthNow();
          if (walking) walking.depth = depth;
          return flow.route(depth);
        },
        afford,
        paid(cu) {
          pages++;
          meter.paid(cu);
        },
        lost: meter.lost,
        wait: (ms, reason) => tell({ kind: 'wait', ms, reason }),
        signal,
      }),
    );
    walking = { job, pile, depth, forGap };
    return true;
  };

  const takeWalk = (): boolean => {
    const outcome = walking?.job.outcome;
    if (!walking || !outcome) return false;
    const { pile, depth, forGap } = walking;
    walking = undefined;
    lastPile = pile;
    if ('error' in outcome) {
      if (!signal.aborted) finish('failure', outcome.error);
      return true;
    }
    const walked = outcome.value;
    const goOn = walked.cut !== 'ceiling' && walked.cut !== 'quota';
    if (walked.cut && goOn && again(walked, forGap)) return true;
    // Nothing was read: there is nothing to say but why.
    if (!goOn && walked.pages === 0) finish('failure', walked.failure ?? ceilingReached());
    else flow.fill(walked, pile, depth, goOn);
    if (forGap) gapAt = walked.startedAt;
    return true;
  };

  /** A walk that led nowhere is made again, a little later; a gap is said only when that does not help either. */
  const again = (walked: Walked, forGap: boolean): boolean => {
    failedWalks++;
    const hollow = walked.rows === 0;
    if (failedWalks >= (started ? WALK_TRIES : FIRST_TRIES) && hollow && !started) {
      finish('failure', hollowFeed());
      return true;
    }
    if (failedWalks >= WALK_TRIES && !hollow) {
      failedWalks = 0;
      return false;
    }
    const ms = walkBackoff.next();
    retryAt = clock.mono() + ms;
    wanted ||= forGap && started && !ending;
    if (ending === 'walking') ending = 'wanted';
    tell({ kind: 'wait', ms, reason: 'the pages led nowhere' });
    return true;
  };
  const walkBackoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, world.random);
  let failedWalks = 0;
  let retryAt = Number.NEGATIVE_INFINITY;

  const filledUp = (done: Filled) => {
    const { walked, gap, depth } = done;
    if (!walked.cut) {
      failedWalks = 0;
      walkBackoff.reset();
    }
    if (gap) {
      gaps.push(gap);
      tell({ kind: 'gap', ...gap });
    }
    if (done.late > 0) {
      late += done.late;
      tell({ kind: 'late', rows: done.late, worstMs: done.worstMs });
    }
    if (depth === 'deep' && !walked.cut) learnMargin(done.worstMs);
    if (started) {
      const passed = walked.startedAt - ratedAt;
      rate.add(done.fresh + framesSince, passed);
      if (way === 'ws') filled += done.rows;
    }
    ratedAt = walked.startedAt;
    const deaf = live && framesSince === 0 && session?.link?.held === 0 && done.missed >= DEAF_ROWS;
    framesSince = 0;
    if (!started || (!live && session?.link))
      tell({ kind: 'caughtUp', rows: done.rows, pages: walked.pages });
    keeper?.touch();
    started = true;
    if (walked.cut === 'ceiling' || walked.cut === 'quota') {
      return finish('failure', walked.failure ?? ceilingReached());
    }
    if (walked.cut && depth === 'shallow') wanted = true;
    if (ending === 'walking') ending = 'done';
    if (deaf) session?.drop('deaf', 'posts came through the pages that the socket did not bring');
    if (depth !== 'shallow' && walked.startedAt >= heldAt) flow.release();
    // Only a walk that began after the subscription opens the way for frames.
    if (session?.link && !wanted && depth !== 'shallow' && walked.startedAt >= subscribedAt) live = true;
  };
  let ratedAt = clock.mono();
  let subscribedAt = Number.POSITIVE_INFINITY;

  const learnMargin = (worstMs: number) => {
    const was = flow.margin.ms;
    flow.margin.learn(worstMs, rate.perSecond);
    if (flow.margin.ms !== was) tell({ kind: 'margin', ms: flow.margin.ms });
  };

  // --- Socket ---------------------------------------------------------------------------------------------------

  /** A socket is opened only when its frames could come out soon: it is paid for by the minute. */
  const quiet = () => started && !walking && !flow.filling && !outlet.busy();

  const sessionStep = (): boolean => {
    if (way !== 'ws' || !connect || ending) return false;
    if (session?.openedAt === undefined && quiet()) {
      const reason = against();
      if (reason) {
        leaveSocket(reason);
        return true;
      }
    }
    session ??= createSession({
      clock,
      random: world.random,
      timing,
      connect,
      subscription: options.subscription ?? { type: 'all' },
      meter,
      ring: bell.ring,
      signal,
    });
    minuteStep(session);
    const event = session.step(quiet(), live);
    if (event) heard(event, session);
    return event !== undefined;
  };

  /** Shortly before a minute of the socket is full, the next one has to be worth its price. */
  const minuteStep = (session: Session) => {
    if (session.openedAt === undefined || clock.mono() < decideAt(session)) return;
    while (clock.mono() >= decideAt(session)) decided++;
    const reason = against();
    if (reason && reason !== 'unstable') leaveSocket(reason);
  };
  let decided = 0;
  const decideAt = (session: Session) =>
    session.openedAt === undefined
      ? Number.POSITIVE_INFINITY
      : session.openedAt + (decided + 1) * MINUTE - DECIDE_MS;

  const heard = (event: SessionEvent, session: Session) => {
    if (event.kind === 'subscribed') {
      subscribedAt = clock.mono();
      wanted = true;
      confirmed = 0;
      decided = 0;
      tell({ kind: 'connected', times: session.connections });
      return;
    }
    live = false;
    downSince = clock.mono();
    if (event.kind === 'quota') return finish('failure', outOfUnits(event.text));
    if (event.kind === 'rejected') {
      session.stop();
      if (options.via === 'ws') return finish('failure', rejected(event.text));
      tell({ kind: 'frame', text: event.text });
      return leaveSocket('rejected');
    }
    const { failure } = event;
    if (failure?.kind === 'quota' || failure?.kind === 'auth') return finish('failure', failure);
    if (failure?.kind === 'forbidden' || failure?.kind === 'missing' || failure?.kind === 'usage') {
      return options.via === 'ws' ? finish('failure', failure) : leaveSocket('refused');
    }
    tell({ kind: 'down', why: event.why, text: event.text, waitMs: event.waitMs });
    if (options.via === 'ws' && session.shortSessions >= 3) {
      tell({ kind: 'unstable', sessions: session.shortSessions, cuAtMost: meter.socket });
    }
  };

  // --- Output ---------------------------------------------------------------------------------------------------

  /** Frames may come out now. Where the file alone will tell what was proven, not long after the last proof. */
  const gateOpen = () =>
    live &&
    !flow.filling &&
    (!byFile || (flow.provenAt !== undefined && clock.mono() - flow.provenAt <= timing.holdMs));

  const outputStep = async (): Promise<boolean> => {
    if (outlet.busy()) {
      blockedAt ??= clock.mono();
      if (session?.link && clock.mono() >= blockedAt + timing.blockedMs) {
        blockedAt = Number.POSITIVE_INFINITY;
        session.drop('blocked', 'nobody reads');
      }
      return false;
    }
    blockedAt = undefined;
    keeper?.step();
    // Until the start itself is on disk, a crash would begin anew and lose what came between.
    if (keeper && started && !keeper.safe) return false;
    if (outlet.closed) {
      finish('reader');
      return true;
    }
    if (flow.full) {
      finish('count');
      return true;
    }
    if (flow.filling) {
      const done = await flow.fillStep();
      if (done && !flow.full) filledUp(done);
      keeper?.touch();
      return true;
    }
    const link = session?.link;
    if (!link || !gateOpen()) return false;
    const taken = flow.frames(link, (text) => tell({ kind: 'frame', text }));
    if (taken === 0) return false;
    framesSince += taken;
    keeper?.touch();
    const unproven = flow.takeUnproven();
    if (unproven) tell({ kind: 'unproven', ...unproven });
    if (flow.heldBack) {
      live = false;
      wanted = true;
      heldAt = clock.mono();
    }
    return true;
  };

  // --- The run --------------------------------------------------------------------------------------------------

  const begin = async () => {
    downSince = clock.mono();
    endsAt = options.durationMs === undefined ? endsAt : clock.mono() + options.durationMs;
    keyStep();
    while (keyJob && !signal.aborted) {
      await bell.wait(Number.POSITIVE_INFINITY);
      const outcome = keyJob.outcome;
      if (outcome && 'error' in outcome && isAuth(outcome.error)) throw outcome.error;
      keyStep();
    }
    const why = againstAtStart();
    if (why && options.via === 'ws') throw cannotHold(why);
    if (why) way = 'poll';
    const other: Way | null = !connect && !world.connect ? null : way === 'ws' ? 'poll' : 'ws';
    tell({
      kind: 'start',
      from: startKind(options.start),
      way,
      why,
      perMinute: perMinute(way),
      other: other && { way: other, perMinute: perMinute(other) },
      lagMs: options.lagMs,
    });
  };
  const againstAtStart = () => (way === 'poll' ? (world.connect ? 'asked' : 'noSocket') : against());

  const endStep = () => {
    const now = clock.mono();
    if (now >= endsAt && !ending) {
      session?.stop();
      ending = started ? 'wanted' : 'done';
      closingAt = now + timing.closingMs;
    }
    if ((ending === 'done' && !flow.filling && !outlet.busy()) || now >= closingAt) finish('duration');
  };

  /** When to look again though nothing rings. What waits for something that will ring has no time of its own. */
  const nextDue = () => {
    const never = Number.POSITIVE_INFINITY;
    const busy = outlet.busy();
    return Math.min(
      walking || flow.filling || ending === 'walking' || ending === 'done' ? never : plan().due,
      session && !ending ? Math.min(session.due(quiet()), decideAt(session)) : never,
      keeper && !busy ? keeper.due : never,
      world.key ? keyDue : never,
      busy && blockedAt !== undefined && session?.link ? blockedAt + timing.blockedMs : never,
      ending ? closingAt : endsAt,
    );
  };

  const loop = async () => {
    while (!over) {
      if (signal.aborted) {
        finish('stopped');
        break;
      }
      endStep();
      if (over) break;
      if (await outputStep()) continue;
      if (walkStep() || sessionStep()) continue;
      keyStep();
      await bell.wait(nextDue());
    }
  };

  /** Waits for what was begun, and not for ever: an output that is blocked must not hold up the end. */
  const windUp = async () => {
    session?.stop();
    const grace = new AbortController();
    const patience = clock.sleep(timing.closingMs, grace.signal).then(
      () => {},
      () => {},
    );
    const work = (async () => {
      await Promise.all([outlet.settled(), walking?.job.settled, keyJob?.settled, session?.settled()]);
      await walking?.pile.clear();
      await lastPile?.clear();
      if (!outlet.busy() && !outlet.closed) {
        await keeper?.end();
        await world.sink.flush();
      }
    })();
    try {
      await Promise.race([work, patience]);
    } finally {
      grace.abort();
      bell.close();
      work.catch(() => {});
    }
  };

  const summary = (reason: EndReason): Summary => ({
    reason,
    rows: outlet.rows,
    filled,
    late,
    gaps,
    connections: session?.connections ?? 0,
    pages,
    spent: meter.spent,
    provenTo: flow.watermark?.top ?? null,
  });

  return {
    async run(outer) {
      const stop = () => {
        inner.abort(outer.reason);
        bell.ring();
      };
      outer.addEventListener('abort', stop);
      if (outer.aborted) stop();
      try {
        await begin();
        await loop();
      } catch (error) {
        if (!signal.aborted) finish('failure', error);
      }
      over ??= { reason: 'stopped' };
      inner.abort();
      try {
        if (flow.heldBack && !outlet.busy()) flow.release();
        await windUp();
      } catch (error) {
        if (over.failure === undefined) over = { reason: 'failure', failure: error };
      } finally {
        outer.removeEventListener('abort', stop);
      }
      const result = summary(over.reason);
      tell({ kind: 'end', summary: result });
      if (over.reason === 'failure') throw over.failure;
      return result;
    },
    status: () => ({
      way,
      connected: session?.link !== undefined,
      rows: outlet.rows,
      rate: rate.perSecond,
      gaps: gaps.length,
      filled,
      late,
      connections: session?.connections ?? 0,
      spent: meter.spent,
      perMinute: perMinute(way),
      provenTo: flow.watermark?.top ?? null,
      provenAgoMs: flow.provenAt === undefined ? null : clock.mono() - flow.provenAt,
    }),
  };
}

const isAuth = (error: unknown) => error instanceof Failure && error.kind === 'auth';

const ceilingReached = () =>
  new Failure('limit', 'The ceiling is reached.', { code: 'CEILING', hint: 'Allow more with --max-cu.' });

const hollowFeed = () =>
  new Failure('answer', 'The service says that there are posts, and shows none.', { code: 'EMPTY_PAGES' });

const outOfUnits = (text: string) =>
  new Failure('quota', `The service closed the socket: ${text || 'the key has no units left'}.`, {
    code: 'QUOTA_EXCEEDED',
    hint: 'See what is left, and when it is renewed: trdr me',
  });

const rejected = (text: string) =>
  new Failure('service', `The service rejected the subscription: ${text}`, { code: 'SUBSCRIPTION' });

const cannotHold = (why: PollReason) =>
  why === 'noSocket'
    ? new Failure('usage', 'This feed has no socket.', { code: 'USAGE', hint: 'Leave --via out.' })
    : new Failure('limit', 'The ceiling does not hold another minute of the socket.', {
        code: 'CEILING',
        hint: 'Allow more with --max-cu, or use polls: --via poll',
      });
