import { blockedAtEnd, endTooEarly, unanswered } from './failures.ts';
import { finish, now, type Run } from './run.ts';

/** Ends a run that is due. After its duration, the socket is closed, and a last walk verifies the feed. */
export function endStep(run: Run): void {
  const { walks, session, writer, options } = run;
  if (options.noFollow && walks.isStarted && !run.filling && !writer.busy()) {
    finish(run, 'caughtUp');
    return;
  }
  if (now(run) >= endsAt(run) && !walks.finale) {
    session.close();
    walks.finale = 'wanted';
    run.closing = { at: now(run) + run.timing.closingMs, pages: walks.pages };
  }
  const { closing } = run;
  if (!closing) return;
  const trouble = walks.trouble ?? run.ports.trouble?.();
  // There is nothing to verify if the service was never reached.
  if (walks.pages === 0 && trouble) {
    finish(run, 'failure', trouble);
    return;
  }
  const isWalked = walks.finale === 'done' && !run.filling;
  if (isWalked && (!writer.busy() || now(run) >= closing.at)) {
    finish(run, 'duration');
    return;
  }
  if (now(run) < closing.at) return;
  // The last walk, or the printing of its rows, did not finish in time.
  const failure = writer.busy()
    ? blockedAtEnd
    : walks.pages > closing.pages
      ? endTooEarly
      : unanswered;
  finish(run, 'failure', trouble ?? failure());
}

export const endDue = (run: Run): number => run.closing?.at ?? endsAt(run);

const endsAt = ({ options: { durationMs }, began }: Run): number =>
  durationMs === undefined ? Number.POSITIVE_INFINITY : began + durationMs;

/** Saves the last position and flushes, within a limited time: a blocked output must not prevent the end of the run. */
export async function shutDown(run: Run): Promise<void> {
  const { session, writer, saver, walks, money, wakeup, timing } = run;
  const { clock, sink } = run.ports;
  session.close();
  await sink.end?.();
  const grace = new AbortController();
  const timeout = clock.sleep(timing.closingMs, grace.signal).then(
    () => {},
    () => {},
  );
  const work = (async () => {
    await Promise.all([writer.settled(), walks.job?.settled, money.settled(), session.settled()]);
    await walks.stack.clear();
    // Do not save a position if rows may be missing from the output, because it would cover them.
    if (writer.failed || writer.busy() || writer.closed) return;
    await saver?.end();
    await sink.flush();
  })();
  try {
    await Promise.race([work, timeout]);
  } finally {
    grace.abort();
    wakeup.close();
    work.catch(() => {});
  }
}
