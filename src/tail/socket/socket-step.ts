import { BUDGET } from '../../contract/budget.ts';
import { cannotStream, outOfUnits, rejected } from '../failures.ts';
import { now, type Run, spendPlan } from '../run.ts';
import type { PollReason } from '../spend/stream-or-poll.ts';
import { resetsIn } from '../spend/units-left.ts';
import type { SessionEvent } from './session.ts';

const MINUTE = 60_000;
/** How long before the end of a minute of the WebSocket the tail decides about the next one. */
const DECIDE_MS = 2_000;
/** The reasons to poll that end when a budget or the allowance renews. */
const renewing: ReadonlySet<PollReason> = new Set(['budget', 'quota', 'allowance', 'share']);
const socketOnly: ReadonlySet<string> = new Set(['forbidden', 'missing', 'usage']);

/** Decides between streaming and polling; returns whether anything happened. A failure that it throws ends the run. */
export function socketStep(run: Run, isQuiet: boolean): boolean {
  const { session } = run;
  const { kind } = session.state;
  if (kind === 'closing') return false;
  if (kind === 'polling') return streamAgain(run);
  const why = kind === 'dialing' ? undefined : objection(run, isQuiet);
  if (why) {
    leave(run, why);
    return true;
  }
  const event = session.step(isQuiet);
  if (event) handle(run, event);
  return event !== undefined;
}

export const socketDue = (run: Run, isQuiet: boolean): number =>
  Math.min(run.session.due(isQuiet), decideAt(run));

/** Why no connection should be opened, or why its next minute should not be paid for. */
function objection(run: Run, isQuiet: boolean): PollReason | undefined {
  const { openedAt } = run.session;
  if (openedAt === undefined) return isQuiet ? spendPlan(run).why : undefined;
  if (now(run) < decideAt(run)) return undefined;
  while (now(run) >= decideAt(run))
    run.decidedTo = Math.max(openedAt + MINUTE, run.decidedTo) + MINUTE;
  const { why } = spendPlan(run);
  // Whether connections are stable, and polls cheaper, is decided when the next one is opened.
  return why === 'unstable' || why === 'cheaper' ? undefined : why;
}

/** When to decide about the next minute: shortly before the last minute that was decided about ends. */
function decideAt({ session: { openedAt }, decidedTo }: Run): number {
  return openedAt === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(openedAt + MINUTE, decidedTo) - DECIDE_MS;
}

/** Polls for this reason. With --via ws, this is an error, unless streaming is possible again later. */
function leave(run: Run, why: PollReason): void {
  run.session.poll();
  run.polling = why;
  const { via, waitForBudget } = run.options;
  if (via === 'ws' && !(renewing.has(why) && waitForBudget)) throw cannotStream(why);
  const { perMinute, pollMs, until } = spendPlan(run);
  const stretched = until === undefined ? undefined : { everyMs: pollMs, until };
  run.notify({ kind: 'fallback', why, perMinute: perMinute.poll, stretched });
  run.walks.isWanted = true;
}

/** Returns to streaming when a budget or the allowance has renewed and covers the cost of streaming. */
function streamAgain(run: Run): boolean {
  const { polling: why } = run;
  if (why === undefined || !renewing.has(why)) return false;
  const plan = spendPlan(run);
  if (plan.why !== undefined) return false;
  run.polling = undefined;
  run.session.reopen();
  run.notify({ kind: 'streamAgain', why, perMinute: plan.perMinute.ws });
  return true;
}

/** The units of the key are used up, so the service would close every new connection until they reset. */
function withoutUnits(run: Run): void {
  run.money.refused(resetsIn(run.ports.clock.now()), 'key');
  leave(run, 'quota');
}

function handle(run: Run, event: SessionEvent): void {
  const { via, waitForBudget } = run.options;
  if (event.kind === 'subscribed') {
    run.walks.isWanted = true;
    run.walks.confirmed = 0;
    run.notify({ kind: 'connected', times: run.session.connections });
  }
  if (event.kind === 'quota') {
    if (!waitForBudget || run.money.isGrantedOnce) throw outOfUnits(event.text);
    withoutUnits(run);
  }
  if (event.kind === 'rejected') {
    if (via === 'ws') throw rejected(event.text);
    leave(run, 'rejected');
  }
  if (event.kind === 'down') down(run, event);
}

function down(
  run: Run,
  { failure, why, text, waitMs }: Extract<SessionEvent, { kind: 'down' }>,
): void {
  const { via, waitForBudget } = run.options;
  if (failure?.kind === 'quota' && waitForBudget && !run.money.isGrantedOnce) withoutUnits(run);
  else if (failure?.kind === 'quota' || failure?.kind === 'auth') throw failure;
  else if (failure?.kind === 'limit') {
    if (failure.code === BUDGET) run.money.refused(1_000 * (failure.retryAfter ?? 0), 'budget');
    leave(run, failure.code === BUDGET ? 'budget' : 'ceiling');
  } else if (failure && socketOnly.has(failure.kind)) {
    if (via === 'ws') throw failure;
    leave(run, 'refused');
  } else {
    run.notify({ kind: 'down', why, text, waitMs });
    const { shortSessions } = run.session;
    if (via === 'ws' && shortSessions >= 3)
      run.notify({ kind: 'unstable', sessions: shortSessions });
  }
}
