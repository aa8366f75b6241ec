import { createBackoff } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { isDiskFull } from '../../base/files.ts';
import { stopCodeOf } from '../../core/pages/read-pages.ts';
import { Job } from '../background-job.ts';
import { ceilingReached, hollowFeed, waitAfter } from '../failures.ts';
import { acceptWalk } from '../print-step.ts';
import {
  auditMs,
  type Depth,
  finish,
  isConnected,
  mode,
  now,
  type Run,
  spendPlan,
  type Walked,
} from '../run.ts';
import { waitsForUnits } from '../spend/units-left.ts';
import { planWalk, type WalkPlan } from './schedule.ts';
import { type RequestedPage, walk } from './walk.ts';
import { RowStack } from './walk-rows.ts';

/** The first page is requested so often before the run fails, so that a wrong address is reported soon. */
const FIRST_TRIES = 6;
/** The longest wait before a request that needs units is repeated: the user may raise a budget or top up. */
const UNITS_MS = 10 * 60_000;

/** Begins a walk that is due, or accepts a finished one. Returns whether anything happened. */
export function walkStep(run: Run): boolean {
  const { walks } = run;
  const outcome = walks.job?.outcome;
  if (outcome) {
    walks.job = undefined;
    if ('error' in outcome) throw outcome.error;
    end(run, outcome.value);
    return true;
  }
  if (isBusy(run)) return false;
  const { due, why } = plan(run);
  if (now(run) < due) return false;
  if (why === 'confirm') walks.confirmed++;
  if (why === 'final') walks.finale = 'walking';
  begin(run, why);
  return true;
}

export const walkDue = (run: Run): number =>
  isBusy(run) ? Number.POSITIVE_INFINITY : plan(run).due;

/** Whether no walk may begin now: its rows could not be written, or would exceed --count. */
const isBusy = ({ walks, filling, ports, left }: Run): boolean =>
  walks.job !== undefined ||
  filling !== undefined ||
  left <= 0 ||
  ports.sink.waits?.() !== undefined ||
  walks.finale === 'walking' ||
  walks.finale === 'done';

function plan(run: Run): WalkPlan {
  const { walks, session, options, timing } = run;
  const { state } = session;
  const { isStarted, isWanted, lastAt, printedAt, gapAt, confirmed } = walks;
  const next = planWalk(
    {
      isStarted,
      isWanted,
      lastAt,
      printedAt,
      gapAt,
      confirmed,
      isEnding: walks.finale === 'wanted',
      mode: mode(run),
      isConnected: isConnected(run),
      downSince: 'since' in state ? state.since : run.began,
      pollMs: mode(run) === 'poll' ? spendPlan(run).pollMs : 0,
      lagMs: options.lagMs,
      auditMs: auditMs(run),
    },
    timing,
  );
  return { ...next, due: Math.max(next.due, walks.retryAt) };
}

function begin(run: Run, why: WalkPlan['why']): void {
  const { walks, ports } = run;
  const isPoll = why === 'poll' || why === 'outage';
  walks.isUrgent = walks.isWanted || why === 'final';
  const isUrgent = walks.isUrgent;
  walks.isWanted = false;
  walks.lastAt = now(run);
  walks.stack = new RowStack(ports.spool);
  /** This is decided when the first page has arrived: a verification may have become due meanwhile. */
  const depth = (): Depth => {
    if (!walks.isPlaced) return 'start';
    if (!walks.isStarted || !isPoll || isUrgent) return 'deep';
    return walks.verifiedAt !== undefined && now(run) - walks.verifiedAt < auditMs(run)
      ? 'shallow'
      : 'deep';
  };
  walks.job = new Job(run.wakeup.wake, () => walk(run, pageReader(run), depth));
}

function end(run: Run, walked: Walked): void {
  const { walks, options, timing, ports, notify } = run;
  if (walks.isUrgent) walks.gapAt = walked.startedAt;
  walks.lastAt = Math.max(walks.lastAt, walked.startedAt);
  // If the run ends before a walk has read a page, report only why.
  if (walked.cut === 'unpaid' && walked.pages === 0)
    finish(run, 'failure', walked.failure ?? ceilingReached());
  if (run.ending || acceptWalk(run, walked)) return;
  if (
    walked.rows === 0 &&
    !walks.isStarted &&
    walks.failures >= (options.firstTries ?? FIRST_TRIES)
  )
    throw hollowFeed();
  const ms = ports.random() * Math.min(timing.backoffMaxMs, timing.backoffMs * 2 ** walks.failures);
  walks.retryAt = now(run) + ms;
  if (walks.finale === 'walking') walks.finale = 'wanted';
  else walks.isWanted = walks.isStarted;
  notify({ kind: 'wait', ms, reason: stops[walked.cut ?? 'unpaid'] });
}

const stops: Readonly<Record<NonNullable<Walked['cut']>, string>> = {
  CURSOR_LOST: 'the service rejected the cursor of the next page',
  WALK_STUCK: 'the service sent pages without new posts',
  FEED_ENDED: 'the service reported the end of the feed too early',
  unpaid: 'no further page can be paid for',
};

/** Repeats a failed request at its place for as long as it takes; only before the first page of a run, it fails soon. */
function pageReader(
  run: Run,
): (before: string | undefined, limit: number) => Promise<RequestedPage> {
  const { walks, ports, timing, options, signal, notify, money } = run;
  const { clock, source } = ports;
  const backoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, ports.random);
  let failed = 0;

  const wait = async (failure: Failure) => {
    walks.trouble = failure;
    const ms = Math.max(backoff.next(), failure.kind === 'rate' ? waitAfter(failure) : 0);
    notify({ kind: 'wait', ms, reason: failure.message });
    await clock.sleep(ms, signal);
  };

  const waitForUnits = async (failure: Failure, ms: number) => {
    const { changed } = money;
    // Use the wall clock, because the machine may have been suspended.
    const until = clock.now() + ms;
    walks.trouble = failure;
    if (walks.waitsUntil === null) notify({ kind: 'budget', until, reason: failure.message });
    walks.waitsUntil = until;
    const wait = clock.sleep(
      Math.min(UNITS_MS, Math.max(1_000, ms)),
      AbortSignal.any([signal, changed]),
    );
    await wait.catch(() => signal.throwIfAborted());
  };

  return async (before, limit) => {
    for (;;) {
      const [sentAt, sentTime] = [clock.mono(), clock.now()];
      try {
        const page = await source.page(
          before === undefined ? { limit } : { before, limit },
          signal,
        );
        backoff.reset();
        walks.pages++;
        walks.trouble = undefined;
        if (walks.waitsUntil !== null) notify({ kind: 'renewed' });
        walks.waitsUntil = null;
        return { page, sentAt, sentTime };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Failure) || stopCodeOf(error)) throw error;
        const unitsMs = waitsForUnits(error, clock.now(), money.isGrantedOnce);
        if (options.waitForBudget && unitsMs !== undefined) {
          await waitForUnits(error, unitsMs);
          continue;
        }
        if (error.kind !== 'rate') failed++;
        const isHopeless = walks.pages === 0 && failed >= (options.firstTries ?? FIRST_TRIES);
        if (!isTransient(error) || isHopeless) throw error;
        await wait(error);
      }
    }
  };
}

const isTransient = (failure: Failure): boolean =>
  failure.kind === 'rate' ||
  failure.kind === 'network' ||
  failure.kind === 'answer' ||
  (failure.kind === 'service' && failure.retryable) ||
  // The ledger, in which a call with a budget must be recorded before it is sent, is on a full disk.
  isDiskFull(failure);
