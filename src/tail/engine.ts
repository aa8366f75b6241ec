import { blockedAtEnd, cannotHold, ceilingReached, unanswered } from './failures.ts';
import { createFlow, type Filled } from './flow.ts';
import { createNamelessCounter } from './nameless.ts';
import type { EndReason, Gap, Summary, TailStatus } from './notice.ts';
import type { TailOptions } from './options.ts';
import { snapshotOf } from './output/checkpoint.ts';
import { createCheckpointer } from './output/checkpointer.ts';
import { createTailWriter } from './output/writer.ts';
import type { TailPorts } from './ports.ts';
import type { PostFields, TailRow } from './row.ts';
import { createSeen } from './seen/seen.ts';
import { shutDown } from './shutdown.ts';
import type { ReadFrame } from './socket/other-frame.ts';
import { createSocketPolicy, type SocketPolicy } from './socket/socket-policy.ts';
import { createCostMeter } from './spend/cost-meter.ts';
import { createRate } from './spend/pace.ts';
import type { Mode, PollReason } from './spend/socket-share.ts';
import { createTailSpend } from './spend/tail-spend.ts';
import { timing as defaults, type Timing } from './timing.ts';
import { createWakeup } from './wakeup.ts';
import { createWalker, type WalkView } from './walk/walker.ts';

/** A tail: runs once. */
export interface Tail {
  /** Runs until it is told to stop, has done what was asked, or can't go on; a failure is thrown after the `end` notice. */
  run(signal: AbortSignal): Promise<Summary>;
  status(): TailStatus;
}

/** Posts that a healthy socket would have delivered, and did not. */
const DEAF_ROWS = 3;
const FIRST_TRIES = 6;
const SOCKET_SHARE = 0.1;
const never = Number.POSITIVE_INFINITY;

/** Wires the parts together: one loop looks at all of them whenever one of them rings. */
export function createTail(world: TailPorts, options: TailOptions): Tail {
  const { clock, source, sink, save } = world;
  const timing: Timing = { ...defaults, ...options.timing };
  const notify = options.on ?? (() => {});
  const bell = createWakeup(clock);
  const { wake } = bell;
  const inner = new AbortController();
  const { signal } = inner;
  const meter = createCostMeter(clock.mono, source.spent);
  const outlet = createTailWriter(sink, wake);
  const rate = createRate();
  const byFile = options.fileIsCheckpoint ?? options.start.kind === 'file';
  const flow = createFlow({
    start: options.start,
    timing,
    outlet,
    seen: (options.seen ?? createSeen)(Number.NEGATIVE_INFINITY, timing.seenMax),
    scope: options.scope ?? (() => true),
    sieve: options.sieve ?? (() => true),
    carries: options.carries ?? (() => true),
    count: options.count ?? Number.POSITIVE_INFINITY,
    byFile,
    heals: save !== undefined && !byFile,
  });
  const snapshot = () => snapshotOf(options.feed, flow);
  const keeper = save && createCheckpointer({ clock, timing, wake, snapshot, flush: sink.flush, save });
  const connect = options.via === 'poll' ? undefined : world.connect;
  const purse = createTailSpend({
    ...{ world, timing, meter, rate, wake, signal, via: options.via, lagMs: options.lagMs },
    price: { step: source.sizes.step, cu: source.price(source.sizes.step) },
    hasSocket: connect !== undefined,
    ceiling: options.ceiling,
    socketShare: options.socketShare ?? SOCKET_SHARE,
  });
  const nameless = createNamelessCounter();
  const skipped = (records: readonly PostFields[]) => {
    if (nameless.add(records)) notify({ kind: 'nameless' });
  };
  const walker = createWalker({
    ...{ world, timing, flow, notify, wake, signal, lagMs: options.lagMs },
    firstTries: options.firstTries ?? FIRST_TRIES,
    ...{ afford: purse.afford, paid: meter.paid, lost: meter.lost, nameless: skipped },
  });

  let way: Mode = connect ? 'ws' : 'poll';
  let conduct: SocketPolicy | undefined;
  let began = clock.mono();
  let ratedAt = began;
  let walkedBefore = never;
  let framesSince = 0;
  let heldAt = never;
  let blockedAt: number | undefined;
  let endsAt = never;
  let closingAt = never;
  let over: { readonly reason: EndReason; readonly failure?: unknown } | undefined;
  const gaps: Gap[] = [];
  let filled = 0;
  let late = 0;

  const finish = (reason: EndReason, failure?: unknown) => {
    over ??= { reason, failure };
  };

  const view = (): WalkView => ({
    way,
    connected: conduct?.link !== undefined,
    downSince: conduct?.downSince ?? began,
    pollMs: way === 'poll' ? purse.pollMs : 0,
  });

  // --- What came of a walk ----------------------------------------------------------------------------------------

  const report = ({ gap, ...done }: Filled) => {
    if (gap) {
      gaps.push(gap);
      notify({ kind: 'gap', ...gap });
    }
    late += done.late;
    if (done.late > 0) notify({ kind: 'late', rows: done.late, worstMs: done.worstMs });
    const connecting = conduct?.link && !conduct.live;
    if (!walker.started || connecting)
      notify({ kind: 'caughtUp', rows: done.rows, pages: done.walked.pages });
  };

  const learn = ({ walked, depth, rows, fresh, worstMs }: Filled) => {
    if (walker.started) {
      rate.add(fresh + framesSince, walked.startedAt - ratedAt);
      if (way === 'ws') filled += rows;
    } else rate.add(walked.first.length - 1, spanOf(walked.first));
    ratedAt = walked.startedAt;
    if (depth !== 'deep' || walked.cut) return;
    const was = flow.margin.ms;
    flow.margin.learn(worstMs, walked.rows);
    if (flow.margin.ms !== was) notify({ kind: 'margin', ms: flow.margin.ms });
  };

  const emitted = (done: Filled) => {
    const { walked, depth } = done;
    report(done);
    learn(done);
    const deaf = conduct?.live && framesSince === 0 && conduct.link?.held === 0 && done.missed >= DEAF_ROWS;
    conduct?.sawPosts(done.fresh, walkedBefore);
    walkedBefore = walked.startedAt;
    framesSince = 0;
    walker.emitted(done);
    keeper?.touch();
    if (walked.cut === 'ceiling' || walked.cut === 'quota') {
      return finish('failure', walked.failure ?? ceilingReached());
    }
    if (deaf) conduct?.drop('deaf', 'posts came through the pages that the socket did not bring');
    if (depth === 'shallow') return;
    if (walked.startedAt >= heldAt) flow.release();
    // Only a walk that began after the subscription opens the way for frames.
    if (conduct?.link && !walker.wanted && walked.startedAt >= conduct.subscribedAt) conduct.setLive(true);
  };

  // --- The steps --------------------------------------------------------------------------------------------------

  /** Frames may come out now. Where the file alone will tell what was proven, not long after the last proof. */
  const gateOpen = () =>
    !byFile || (flow.provenAt !== undefined && clock.mono() - flow.provenAt <= timing.holdMs);

  const blockedStep = () => {
    blockedAt ??= clock.mono();
    if (!conduct?.link || clock.mono() < blockedAt + timing.blockedMs) return;
    blockedAt = never;
    conduct.drop('blocked', 'nobody reads');
  };

  const otherFrame = (frame: Exclude<ReadFrame, { kind: 'row' }>) => {
    if (frame.kind === 'nameless') skipped([frame.record]);
    if (frame.kind === 'unreadable') notify({ kind: 'frame', text: frame.why });
    if (frame.kind === 'error') notify({ kind: 'frame', text: frame.text });
  };

  const framesStep = (): boolean => {
    const link = conduct?.link;
    if (!link || !conduct?.live || !gateOpen()) return false;
    const taken = flow.frames(link, otherFrame);
    if (taken === 0) return false;
    framesSince += taken;
    keeper?.touch();
    const unproven = flow.takeUnproven();
    if (unproven) notify({ kind: 'unproven', ...unproven });
    if (flow.heldBack) {
      conduct.setLive(false);
      walker.want();
      heldAt = clock.mono();
    }
    return true;
  };

  const outputStep = async (): Promise<boolean> => {
    if (outlet.busy()) {
      blockedStep();
      return false;
    }
    blockedAt = undefined;
    keeper?.step();
    // Until the start itself is on disk, a crash would begin anew and lose what came between.
    if (keeper && walker.started && !keeper.safe) return false;
    if (outlet.closed || flow.full) {
      finish(outlet.closed ? 'reader' : 'count');
      return true;
    }
    if (!flow.filling) return framesStep();
    const done = await flow.fillStep();
    if (done && !flow.full) emitted(done);
    keeper?.touch();
    return true;
  };

  const walkStep = (): boolean => {
    const { moved, taken } = walker.step(view());
    if (!taken) return moved;
    const { walked, pile, depth, goOn } = taken;
    // Where nothing was read there is nothing to say but why.
    if (!goOn && walked.pages === 0) finish('failure', walked.failure ?? ceilingReached());
    else flow.fill(walked, pile, depth, goOn);
    return true;
  };

  /** A socket is opened only when its frames could come out soon: it is paid for by the minute. */
  const quiet = () => walker.started && !walker.busy && !flow.filling && !outlet.busy();

  const leave = (why: PollReason) => {
    way = 'poll';
    walker.want();
    notify({ kind: 'fallback', why, perMinute: purse.perMinute('poll') });
  };

  const socketStep = (): boolean => {
    if (way !== 'ws' || !connect || walker.finale) return false;
    const subscription = options.subscription ?? { type: 'all' };
    conduct ??= createSocketPolicy({
      ...{
        world,
        connect,
        timing,
        via: options.via,
        subscription,
        purse,
        meter,
        notify,
        wake,
        signal,
        leave,
      },
      subscribed: walker.subscribed,
    });
    return conduct.step(quiet());
  };

  const endStep = () => {
    const now = clock.mono();
    if (now >= endsAt && !walker.finale) {
      conduct?.stop();
      walker.end();
      closingAt = now + timing.closingMs;
    }
    const walked = walker.finale === 'done' && !flow.filling;
    if (walked && (!outlet.busy() || now >= closingAt)) return finish('duration');
    if (now < closingAt) return;
    const gap = flow.openEnd();
    gaps.push(gap);
    notify({ kind: 'gap', ...gap });
    finish('failure', walker.trouble ?? (outlet.busy() ? blockedAtEnd() : unanswered()));
  };

  /** When to look again though nothing rings. What waits for something that will wake has no time of its own. */
  const nextDue = () => {
    const busy = outlet.busy();
    return Math.min(
      walker.due(view()),
      conduct && way === 'ws' && !walker.finale ? conduct.due(quiet()) : never,
      keeper && !busy ? keeper.due : never,
      purse.due,
      busy && blockedAt !== undefined && conduct?.link ? blockedAt + timing.blockedMs : never,
      walker.finale ? closingAt : endsAt,
    );
  };

  // --- The run ----------------------------------------------------------------------------------------------------

  const begin = async () => {
    began = clock.mono();
    ratedAt = began;
    if (options.durationMs !== undefined) endsAt = began + options.durationMs;
    await purse.first(() => bell.wait(never));
    const why = world.connect ? purse.against(0) : 'noSocket';
    if (why && options.via === 'ws') throw cannotHold(why);
    if (why) way = 'poll';
    const other = way === 'ws' ? 'poll' : 'ws';
    notify({
      ...{ kind: 'start', from: options.start.kind, way, why, lagMs: options.lagMs },
      perMinute: purse.perMinute(way),
      other: world.connect ? { way: other, perMinute: purse.perMinute(other) } : null,
    });
  };

  const loop = async () => {
    while (!over) {
      if (signal.aborted) return finish('stopped');
      endStep();
      if (over || (await outputStep()) || walkStep() || socketStep()) continue;
      purse.step(way);
      await bell.wait(nextDue());
    }
  };

  const close = async () => {
    conduct?.stop();
    if (!outlet.busy()) flow.releaseAll();
    await shutDown({ clock, timing, bell, outlet, keeper, flush: sink.flush }, [
      walker.settled,
      purse.settled,
      conduct?.settled,
    ]);
  };

  const account = () => ({
    ...{ rows: outlet.rows, filled, late, spent: meter.spent },
    connections: conduct?.connections ?? 0,
    provenTo: flow.watermark?.top ?? null,
    nameless: nameless.count,
  });

  return {
    async run(outer) {
      const stop = () => {
        inner.abort(outer.reason);
        wake();
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
        await close();
      } catch (error) {
        if (over.failure === undefined) over = { reason: 'failure', failure: error };
      } finally {
        outer.removeEventListener('abort', stop);
      }
      const summary: Summary = {
        ...{ reason: over.reason, ...account(), gaps, pages: walker.pages },
        durationMs: clock.mono() - began,
        completeTo: flow.provenAt === undefined ? null : clock.now() - (clock.mono() - flow.provenAt),
      };
      notify({ kind: 'end', summary });
      if (over.reason === 'failure') throw over.failure;
      return summary;
    },
    status: () => ({
      ...{ way, rate: rate.perSecond, gaps: gaps.length, ...account() },
      connected: conduct?.link !== undefined,
      perMinute: purse.perMinute(way),
      provenAgoMs: flow.provenAt === undefined ? null : clock.mono() - flow.provenAt,
    }),
  };
}

/** Time between the first of these rows and the last. */
const spanOf = (rows: readonly TailRow[]): number => (rows[0]?.at ?? 0) - (rows.at(-1)?.at ?? 0);
