import { type Instant, instantAt } from '../../base/time-values.ts';
import type { Client } from '../../contract/ports.ts';
import { checkSpace } from '../../output/disk-space.ts';
import { createStatusLine } from '../../output/terminal/status-line.ts';
import { canRedraw, wantsUnicode } from '../../output/terminal/style.ts';
import type { View } from '../../output/view.ts';
import { createTail } from '../../tail/engine.ts';
import type { Summary } from '../../tail/notice.ts';
import type { TailOptions } from '../../tail/options.ts';
import type { Connect, PageSource } from '../../tail/ports.ts';
import type { TailRow } from '../../tail/row.ts';
import type { StartPoint } from '../../tail/walk/bounds.ts';
import type { Context } from '../context.ts';
import { accountSharing } from '../lookup/account.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { openSink } from '../output/output.ts';
import { limitsOf } from '../spend/approve-tail.ts';
import { withLimit } from '../spend/open-run.ts';
import { atLimit } from './at-limit.ts';
import { withBell } from './bell.ts';
import { everySecond } from './every-second.ts';
import type { ExecFlags } from './exec/open.ts';
import { lockFiles, resumableOut } from './files.ts';
import { gapFailure } from './gap-failure.ts';
import { createNoticeLines } from './limit-notices.ts';
import { gapText, statusText } from './notice-text.ts';
import { openOutputFile, type RotateFlags } from './output/output-file.ts';
import { printTo, type TailOutput } from './output/writer.ts';
import { createPause } from './pause.ts';
import { positionPath } from './resume/position.ts';
import { readResume, startedFrom } from './resume/resume.ts';
import { createSaver } from './resume/saver.ts';
import type { ServiceFlags } from './service/flags.ts';
import { watchHealth } from './service/watch.ts';
import { watchedTail } from './service/watched-tail.ts';
import { keyFacts } from './source.ts';
import { openSpool } from './spool.ts';

/** The flags of every tail. */
export interface TailFlags extends ServiceFlags, RotateFlags, ExecFlags {
  readonly lag: number;
  readonly backfill: number | undefined;
  readonly since: Instant | undefined;
  readonly count: number | undefined;
  readonly duration: number | undefined;
  readonly checkpoint: string | undefined;
  readonly bell: boolean;
  readonly waitForBudget: boolean;
}

/** What a tail reads, and how it prints the rows. */
export interface TailPlan {
  readonly flags: TailFlags;
  readonly view: View<TailRow['record']>;
  readonly timeField: string;
  readonly source: PageSource;
  readonly connect?: Connect | undefined;
  readonly options: Omit<
    TailOptions,
    'start' | 'lagMs' | 'count' | 'durationMs' | 'on' | 'firstTries' | 'ceiling' | 'raise'
  >;
}

/** On a terminal, a tail first prints up to this many posts from before its start. */
const RECENT = 10;

/** After this many failed attempts to get the first page, the run ends. Each attempt includes retries. */
const FIRST_TRIES = 2;

/**
 * Runs a tail: locks its files, finds the start, opens the output and prints messages. Throws the reason if a
 * signal or a failure ended the run.
 */
export async function runTail(context: Context, client: Client, plan: TailPlan): Promise<void> {
  const { globals, signal, scope } = context;
  const { checkpoint, status } = plan.flags;
  context.setOutcome(null);
  const out = resumableOut(globals.out);
  const feed = `${plan.options.feed} of ${scope?.baseUrl ?? 'a service'}`;
  const { state } = context.settings.folders;
  const unlock = lockFiles({ out, checkpoint, status, state });
  try {
    for (const path of [out, checkpoint]) if (path !== undefined) checkSpace(path);
    const now = context.io.clock.now();
    const position = out === undefined || state === undefined ? undefined : positionPath(state, out);
    const { timeField } = plan;
    const resume = await readResume({
      out,
      rotates: plan.flags.rotate !== undefined,
      checkpoint,
      position,
      feed,
      timeField,
      now,
      notice: context.notice,
    });
    const { reason, gaps, check } = await follow(context, client, plan, {
      out,
      position,
      feed,
      fileIsCheckpoint: out !== undefined && checkpoint === undefined,
      start: resume ?? startedFrom(checkpoint, feed) ?? (await startOf(plan.flags, context)),
    });
    // Throw the reason of the abort, which determines the exit code: SIGINT or SIGTERM, an output closed by its
    // reader, or a full disk.
    if (reason === 'stopped') signal.throwIfAborted();
    // A run that ended by itself has failed if posts are missing that no later run will deliver.
    const [gap] = gaps;
    if (gap && reason !== 'reader') throw gapFailure(gapText(gap));
    check?.();
  } finally {
    unlock();
  }
}

interface Place extends Pick<TailOptions, 'start' | 'feed' | 'fileIsCheckpoint'> {
  readonly out: string | undefined;
  readonly position: string | undefined;
}

async function follow(
  context: Context,
  client: Client,
  plan: TailPlan,
  { out, position, ...place }: Place,
): Promise<Summary & Pick<TailOutput, 'check'>> {
  const { io, globals, notice, diskWait } = context;
  const { lag, count, duration, checkpoint } = plan.flags;
  const { timeField } = plan;
  const followed =
    out === undefined
      ? undefined
      : await openOutputFile(context, out, { ...plan.flags, timeField }, () => saver.moved());
  const saver = createSaver({
    checkpoint,
    out,
    position,
    identity: () => followed?.identity,
    notice,
    diskWait,
  });
  const status = createStatusLine({
    stream: io.stderr,
    enabled: canRedraw(io.stderr, io.env) && io.stdout.isTTY === true && !globals.quiet,
    unicode: wantsUnicode(io.env, io.platform),
  });
  // Hide the status line before each write, so that rows do not continue its line.
  const openPrinted = () =>
    globals.out === undefined ? openSink(io, undefined, diskWait, status.hide) : undefined;
  const pause = createPause(context, status.hide);
  const linesOf = createNoticeLines(io.clock.mono);
  const { filter = () => true } = plan.options;
  const saves = checkpoint !== undefined || position !== undefined;
  const output: TailOutput =
    plan.flags.exec === undefined
      ? printTo(
          await context.records(plan.view, false, followed?.sink ?? (await openPrinted())),
          status.hide,
          saves ? saver.save : undefined,
          pause.wait,
        )
      : await (await import('./exec/open.ts')).openHandoff(context, {
          ...plan,
          checkpoint,
          feed: place.feed,
          since: place.start.kind === 'since' ? place.start.at : null,
        });
  const { isNew = () => true } = output;
  const tail = createTail(
    {
      clock: io.clock,
      random: io.random,
      source: plan.source,
      connect: plan.connect,
      sink: {
        ...(plan.flags.bell ? withBell(output.sink, io) : output.sink),
        waits: diskWait.wait,
        async end() {
          diskWait.close();
          await output.sink.end?.();
        },
      },
      key: keyFacts(client, await context.ledger(), io.clock.now, accountSharing(context)),
      spool: () => openSpool(diskWait),
      save: output.save,
    },
    {
      ...plan.options,
      ...place,
      filter: (row) => isNew(row) && filter(row),
      ...limitsOf(context.permission),
      lagMs: lag,
      count,
      durationMs: duration,
      waitForBudget: plan.flags.waitForBudget,
      firstTries: FIRST_TRIES,
      on(notice) {
        for (const line of linesOf(notice)) {
          status.hide();
          context.notice(notice.kind === 'start' ? withLimit(line, context) : line);
        }
      },
    },
  );
  const ended = new AbortController();
  const watch = watchStatus(
    context,
    () => pause.isOpen || status.show(diskWait.failure?.message ?? statusText(tail.status())),
    ended.signal,
  );
  try {
    watchHealth(context, plan.flags, watchedTail(tail, io.clock.now, output.handoff));
    const summary = await tail.run(context.signal);
    saver.ended();
    return { ...summary, check: output.check };
  } catch (error) {
    throw atLimit(error, context, plan.flags.checkpoint, tail.status());
  } finally {
    diskWait.close();
    pause.end();
    ended.abort();
    await watch;
    await followed?.end();
    status.hide();
    await output.close();
  }
}

async function startOf(
  { backfill, since, count, checkpoint, exec }: TailFlags,
  context: Context,
): Promise<StartPoint> {
  const { io, globals, settings } = context;
  if (since !== undefined) {
    const now = (await serviceClock(context)).now();
    return { kind: 'since', at: instantAt(since, now, settings.utc) };
  }
  if (backfill !== undefined) return { kind: 'backfill', rows: backfill };
  // On a terminal, also print the latest posts of the first page, which is read in any case. Pipes, and runs with
  // --out, --checkpoint, --count or --exec, get only new posts.
  const isBound = [globals.out, checkpoint, count, exec].some((given) => given !== undefined);
  return io.stdout.isTTY === true && !isBound ? { kind: 'now', recent: RECENT } : { kind: 'now' };
}

async function watchStatus({ io }: Context, show: () => void, until: AbortSignal): Promise<void> {
  if (io.stderr.isTTY === true && io.stdout.isTTY === true) await everySecond(io.clock, until, show);
}
