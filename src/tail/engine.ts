import { Failure } from '../base/failure.ts';
import { BLOCKED, ceilingReached } from './failures.ts';
import type { Stretched, Summary, TailStatus } from './notice.ts';
import type { TailOptions } from './options.ts';
import { createTailParts, type Ending } from './parts.ts';
import type { TailPorts } from './ports.ts';
import { shutDown } from './shutdown.ts';
import { modeOf, subscribedLink } from './state.ts';
import type { WalkView } from './walk/walker.ts';

/** A tail, which can be run once. */
export interface Tail {
  /**
   * Runs until the tail is stopped, has done what was requested, or fails. A failure is thrown after the
   * `end` notice.
   */
  run(signal: AbortSignal): Promise<Summary>;
  status(): TailStatus;
  /**
   * Causes one iteration of the main loop, which increases `turns`. A watchdog uses this to detect a loop
   * that hangs.
   */
  wake(): void;
}

const never = Number.POSITIVE_INFINITY;

/** Whether the run ended because of a failure on this machine, for example of its output or a file. */
const isUnwritten = ({ failure }: Ending) => failure instanceof Failure && failure.kind === 'local';

/** Why a failure ended the run. The messages of the service can be as short as "later". */
const messageOf = (error: unknown): string => {
  if (!(error instanceof Failure)) return String(error);
  return error.status === undefined ? error.message : `${error.message} (${error.code})`;
};

/** Whether the run ended because its output was blocked. */
const isBlocked = ({ failure }: Ending) => failure instanceof Failure && failure.code === BLOCKED;

/** Creates a tail: a loop that calls all parts whenever one of the parts wakes the loop. */
export function createTail(ports: TailPorts, options: TailOptions): Tail {
  const { clock, sink } = ports;
  const inner = new AbortController();
  const { signal } = inner;
  let over: Ending | undefined;
  const finish = (ending: Ending) => {
    over ??= ending;
  };
  const parts = createTailParts(ports, options, signal, finish);
  const { wakeup, flow, walker, session, policy, printing, deadline, spend, writer, report, notify } = parts;
  let began = clock.mono();
  let turns = 0;

  const mode = () => modeOf(session.state);

  const view = (): WalkView => ({
    mode: mode(),
    connected: subscribedLink(session.state) !== undefined,
    downSince: 'since' in session.state ? session.state.since : began,
    pollMs: mode() === 'poll' ? spend.pollMs : 0,
  });

  /** Whether no walk may start: its rows could not be written, or would exceed --count. */
  const isHeldUp = () => !walker.busy && (flow.full || sink.waits?.() !== undefined);

  const walkStep = (): boolean => {
    if (isHeldUp()) return false;
    const { moved, finished } = walker.step(view());
    if (!finished) return moved;
    const { walked, stack, depth, continues } = finished;
    if (!continues && walked.pages === 0)
      finish({ reason: 'failure', failure: walked.failure ?? ceilingReached() });
    else flow.fill(walked, stack, depth, continues);
    return true;
  };

  /**
   * Whether the first walk is done and neither a walk nor a write is in progress, so that frames can be printed
   * when they arrive. Otherwise no WebSocket is opened, because an open one is charged by the minute.
   */
  const isQuiet = () => walker.started && !walker.busy && !flow.filling && !writer.busy();

  /** When the next iteration must start even if no part wakes the loop. */
  const nextDue = () =>
    Math.min(
      isHeldUp() ? never : walker.due(view()),
      policy.due(isQuiet()),
      printing.due,
      spend.due,
      deadline.due,
    );

  let told: Stretched | undefined;
  /**
   * Reports that a budget requires a longer polling interval: once in each budget period, and again when the
   * interval is more than twice the reported one.
   */
  const tellStretched = () => {
    const stretched = mode() === 'poll' ? spend.stretched : undefined;
    if (!stretched || !walker.started) return;
    const isNews = told?.until !== stretched.until || stretched.everyMs > 2 * told.everyMs;
    if (!isNews) return;
    told = stretched;
    notify({ kind: 'stretched', perMinute: spend.perMinute('poll'), stretched });
  };

  const begin = async () => {
    began = clock.mono();
    deadline.start();
    await spend.first(() => wakeup.wait(never));
    const why = ports.connect ? spend.against(0) : 'noSocket';
    if (why) policy.poll(why);
    const current = mode();
    told = current === 'poll' ? spend.stretched : undefined;
    const other = current === 'ws' ? 'poll' : 'ws';
    notify({
      kind: 'start',
      from: options.start.kind,
      mode: current,
      why,
      lagMs: options.lagMs,
      perMinute: spend.perMinute(current),
      stretched: told,
      other: ports.connect ? { mode: other, perMinute: spend.perMinute(other) } : null,
    });
  };

  const loop = async () => {
    while (!over) {
      turns++;
      if (signal.aborted) return finish({ reason: 'stopped' });
      deadline.step();
      if (over || (await printing.step()) || walkStep() || policy.step(isQuiet())) continue;
      spend.step(mode());
      tellStretched();
      await wakeup.wait(nextDue());
    }
  };

  const close = async () => {
    session.close();
    if (!writer.failed && !writer.busy()) flow.releaseAll();
    await sink.end?.();
    const { timing, checkpointer } = parts;
    await shutDown({ clock, timing, wakeup, writer, checkpointer, flush: sink.flush }, [
      walker.settled,
      spend.settled,
      session.settled,
    ]);
  };

  const account = () => ({
    rows: writer.rows,
    earlier: writer.earlier,
    ...report.counts,
    spent: parts.meter.spent,
    connections: session.connections,
    verifiedTo: flow.watermark?.top ?? null,
  });

  return {
    async run(outer) {
      const stop = () => {
        inner.abort(outer.reason);
        wakeup.wake();
      };
      outer.addEventListener('abort', stop);
      if (outer.aborted) stop();
      try {
        await begin();
        await loop();
      } catch (error) {
        if (!signal.aborted) finish({ reason: 'failure', failure: error });
      }
      let ending: Ending = over ?? { reason: 'stopped' };
      const unread = ending.reason === 'failure' && flow.unread(messageOf(ending.failure));
      if (unread && !writer.failed) report.gap(unread);
      inner.abort();
      try {
        await close();
      } catch (error) {
        // The write that failed is the reason why the output was blocked.
        if (ending.failure === undefined || isBlocked(ending)) ending = { reason: 'failure', failure: error };
      } finally {
        outer.removeEventListener('abort', stop);
      }
      const summary: Summary = {
        reason: ending.reason,
        ...account(),
        gaps: report.gaps,
        pages: walker.pages,
        durationMs: clock.mono() - began,
        // If the output failed, state no time: posts that were read may not have been written.
        completeTo:
          flow.verifiedAt === undefined || writer.failed || isUnwritten(ending)
            ? null
            : clock.now() - (clock.mono() - flow.verifiedAt),
      };
      notify({ kind: 'end', summary });
      if (ending.reason === 'failure') throw ending.failure;
      return summary;
    },
    wake: wakeup.wake,
    status: () => ({
      mode: mode(),
      rate: parts.rate.perSecond,
      gaps: report.gaps.length,
      ...account(),
      pages: walker.pages,
      lastPost: writer.lastPost,
      turns,
      failing: walker.trouble !== undefined && walker.waitsUntil === undefined,
      waitsUntil: walker.waitsUntil ?? null,
      budgets: spend.left.budgets,
      ceilingLeft: spend.left.ceiling,
      allowanceLeft: spend.left.allowance,
      connected: subscribedLink(session.state) !== undefined,
      perMinute: spend.perMinute(mode()),
      verifiedAgoMs: flow.verifiedAt === undefined ? null : clock.mono() - flow.verifiedAt,
    }),
  };
}
