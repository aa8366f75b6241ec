import { Failure } from '../base/failure.ts';
import { endDue, endStep, shutDown } from './end-step.ts';
import { BLOCKED } from './failures.ts';
import type { HealthMode } from './health.ts';
import type { Stretched, Summary, TailCounts, TailStatus } from './notice.ts';
import type { TailOptions, TailPorts } from './ports.ts';
import { printDue, printStep } from './print-step.ts';
import {
  createRun,
  finish,
  isConnected,
  mode,
  now,
  type Run,
  reportGap,
  spendPlan,
} from './run.ts';
import { socketDue, socketStep } from './socket/socket-step.ts';
import { isOutOfUnits } from './spend/units-left.ts';
import { walkDue, walkStep } from './walk/walk-step.ts';

export interface Tail {
  /** Runs until the tail is stopped, has done what was asked, or fails; throws a failure after the `end` notice. */
  run(signal: AbortSignal): Promise<Summary>;
  status(): TailStatus;
  /** Causes one turn of the loop, which increases `turns`: so a watchdog notices a loop that hangs. */
  wake(): void;
  /** Saves the position soon, because the output continues in another file. */
  touch(): void;
}

/** Creates a tail: a loop that calls all parts whenever something wakes it. The loop itself waits for nothing else. */
export function createTail(ports: TailPorts, options: TailOptions): Tail {
  const inner = new AbortController();
  const { signal } = inner;
  const run = createRun(ports, options, signal);
  const { wakeup, money, walks, notify } = run;
  let turns = 0;
  let told: Stretched | undefined;

  /** Reports that a budget requires a longer interval: once in each of its periods, and again when it has doubled. */
  const tellStretched = () => {
    const stretched = mode(run) === 'poll' && walks.isStarted ? stretchedOf(run) : undefined;
    const isNews =
      told?.until !== stretched?.until || (stretched?.everyMs ?? 0) > 2 * (told?.everyMs ?? 0);
    if (!stretched || !isNews) return;
    told = stretched;
    notify({ kind: 'stretched', perMinute: spendPlan(run).perMinute.poll, stretched });
  };

  const begin = async () => {
    run.began = now(run);
    await money.first(() => wakeup.wait(Number.POSITIVE_INFINITY));
    const { why, perMinute } = spendPlan(run);
    if (why && run.ports.connect) {
      run.session.poll();
      run.polling = why;
    }
    const current = why ? 'poll' : 'ws';
    const other = current === 'ws' ? 'poll' : 'ws';
    told = current === 'poll' ? stretchedOf(run) : undefined;
    notify({
      kind: 'start',
      from: options.start.kind,
      noFollow: options.noFollow === true,
      mode: current,
      why,
      lagMs: options.lagMs,
      perMinute: perMinute[current],
      stretched: told,
      other: run.ports.connect ? { mode: other, perMinute: perMinute[other] } : null,
    });
  };

  /** Only then is a WebSocket opened: an open one is charged by the minute, even while nothing can be printed. */
  const isQuiet = () =>
    walks.isStarted && !walks.job && !run.filling && !run.saver?.isHolding && !run.writer.busy();

  const nextDue = () =>
    Math.min(walkDue(run), socketDue(run, isQuiet()), printDue(run), money.due, endDue(run));

  const loop = async () => {
    while (!run.ending) {
      turns++;
      if (signal.aborted) {
        finish(run, 'stopped');
        return;
      }
      endStep(run);
      if (run.ending || (await printStep(run)) || walkStep(run) || socketStep(run, isQuiet()))
        continue;
      money.step(mode(run) === 'ws', run.session.minutes);
      tellStretched();
      await wakeup.wait(nextDue());
    }
  };

  const modeNow = (): HealthMode => {
    if (walks.waitsUntil !== null) return 'waiting';
    if (mode(run) === 'poll') return 'polling';
    return isConnected(run) ? 'streaming' : 'connecting';
  };

  const counts = (): TailCounts => ({
    rows: run.writer.rows,
    earlier: run.writer.earlier,
    filled: run.filled,
    late: run.late,
    nameless: run.nameless.count,
    connections: run.session.connections,
    pages: walks.pages,
    spent: ports.spent(),
    // If the output failed, state no time: posts that were read may not have been written.
    verified: run.writer.failed || isUnwritten(run) ? null : run.known.verified,
    readAt: run.known.readAt,
    isUnseen: run.known.isUnseen,
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
        if (!signal.aborted) finish(run, 'failure', error);
      }
      run.ending ??= { reason: 'stopped' };
      if (run.ending.reason === 'failure') reportUnread(run, run.ending.failure);
      inner.abort();
      try {
        await shutDown(run);
      } catch (error) {
        // The write that failed is the reason why the output was blocked.
        if (run.ending.failure === undefined || isBlocked(run))
          run.ending = { reason: 'failure', failure: error };
      } finally {
        outer.removeEventListener('abort', stop);
      }
      const { reason, failure } = run.ending;
      const summary: Summary = {
        reason,
        ...counts(),
        gaps: run.gaps,
        durationMs: now(run) - run.began,
      };
      notify({ kind: 'end', summary });
      if (reason === 'failure') throw failure;
      return summary;
    },
    wake: wakeup.wake,
    touch() {
      run.saver?.touch();
      wakeup.wake();
    },
    status: () => ({
      ...counts(),
      ready: walks.verifiedAt !== undefined,
      mode: modeNow(),
      reconnects: Math.max(0, run.session.connections - 1),
      rate: run.rate.perSecond,
      gaps: run.gaps.length,
      lastPost: run.writer.lastPost,
      turns,
      neededCeiling: run.neededCeiling,
      failing: walks.trouble !== undefined && !isOutOfUnits(walks.trouble),
      waitsUntil: walks.waitsUntil,
      blockedSince: run.blockedAt ?? null,
      budgets: money.budgets,
      limitLeft: options.limitLeft?.() ?? null,
      allowanceLeft: money.allowanceLeft,
      perMinute: walks.waitsUntil === null ? spendPlan(run).perMinute[mode(run)] : 0,
      walkedAgoMs: walks.completeAt === undefined ? null : now(run) - walks.completeAt,
    }),
  };
}

function stretchedOf(run: Run): Stretched | undefined {
  const { pollMs, until } = spendPlan(run);
  return until === undefined ? undefined : { everyMs: pollMs, until };
}

/** Reports that the posts since the last verification were not read. */
function reportUnread(run: Run, error: unknown): void {
  if (run.writer.failed || !run.walks.isPlaced) return;
  const { verified, start } = run.known;
  const failure = error instanceof Failure ? messageOf(error) : String(error);
  reportGap(run, {
    why: { failure },
    from: verified ?? start,
    to: null,
    open: run.ports.save !== undefined,
    neededCeiling: run.neededCeiling,
  });
}

const messageOf = ({ status, message, code }: Failure) =>
  status === undefined ? message : `${message} (${code})`;

/** Whether the run ended because its output was blocked. */
const isBlocked = ({ ending }: Run): boolean =>
  ending?.failure instanceof Failure && ending.failure.code === BLOCKED;

/** Whether the run ended because of a failure on this machine, for example of its output or a file. */
const isUnwritten = ({ ending }: Run): boolean =>
  ending?.failure instanceof Failure && ending.failure.kind === 'local';
