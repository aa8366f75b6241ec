import { instantAt } from '../../base/time-values.ts';
import type { Client } from '../../contract/ports.ts';
import { checkSpace } from '../../output/disk-space.ts';
import { createStatusLine } from '../../output/terminal/status-line.ts';
import { canRedraw, wantsUnicode } from '../../output/terminal/style.ts';
import type { View } from '../../output/view.ts';
import type { Filters } from '../../tail/certificate.ts';
import { Confluence, type ConfluenceFields, confluenceName } from '../../tail/confluence.ts';
import { createTail, type Tail } from '../../tail/engine.ts';
import type { Summary } from '../../tail/notice.ts';
import type { Connect, PageSource, StartPoint, TailOptions } from '../../tail/ports.ts';
import type { Position } from '../../tail/position.ts';
import type { TailRow } from '../../tail/row.ts';
import type { Context } from '../context.ts';
import { accountSharing } from '../lookup/account.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { openSink } from '../output/output.ts';
import { atLimit } from './at-limit.ts';
import { certify, type Resumed, resumeLines } from './certify.ts';
import { everySecond } from './every-second.ts';
import type { TailFlags } from './flags.ts';
import { gapFailure } from './gap-failure.ts';
import { createNoticeLines } from './limit-notices.ts';
import { lockFiles, resumableOut } from './lock-files.ts';
import { gapText, statusText } from './notice-text.ts';
import { confluentSink } from './output/confluent.ts';
import { openOutputFile } from './output/output-file.ts';
import { printTo, type TailOutput } from './output/writer.ts';
import { createPause } from './pause.ts';
import { cutBehind, positionPath, readStart, savePosition, type TailFiles } from './position-file.ts';
import { watchHealth } from './service/watch.ts';
import { watchedTail } from './service/watched-tail.ts';
import { keyFacts } from './source.ts';
import { openSpool } from './spool.ts';

/** What a tail reads, and how it prints the rows. */
export interface TailPlan {
  readonly flags: TailFlags;
  readonly view: View<TailRow['record']>;
  readonly timeField: string;
  /** The fields that decide about confluences. */
  readonly fields: ConfluenceFields;
  readonly source: PageSource;
  readonly connect?: Connect | undefined;
  readonly options: Pick<
    TailOptions,
    'via' | 'socketShare' | 'subscription' | 'carries' | 'scope' | 'filter'
  > & {
    /** The name of the feed, without its service. */
    readonly feed: string;
    /** The filters, by the names of their flags. */
    readonly filters?: Filters;
  };
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
  const { globals, signal, scope, settings } = context;
  const { checkpoint, status } = plan.flags;
  const out = resumableOut(globals.out);
  const { confluence } = plan.flags;
  const feed = `${plan.options.feed}${confluenceName(confluence)} of ${scope?.baseUrl ?? 'a service'}`;
  const files = { out, checkpoint };
  const unlock = lockFiles({ ...files, status, state: settings.folders.state });
  try {
    for (const path of [out, checkpoint]) if (path !== undefined) checkSpace(path);
    const { timeField } = plan;
    if (confluence) cutBehind({ ...files, feed, timeField, notice: context.notice });
    const known = readStart({ ...files, feed, timeField, notice: context.notice });
    const resumed: Resumed | undefined =
      out === undefined ? undefined : resumeLines(out, known, plan.options.filters ?? {});
    const position = resumed ? resumed.position : known;
    const start: StartPoint = position ? { kind: 'position', position } : await startOf(plan.flags, context);
    const { reason, gaps, check } = await follow(context, client, plan, { files, feed, start, resumed });
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

async function follow(
  context: Context,
  client: Client,
  plan: TailPlan,
  {
    files,
    feed,
    start,
    resumed,
  }: { files: TailFiles; feed: string; start: StartPoint; resumed: Resumed | undefined },
): Promise<Summary & Pick<TailOutput, 'check'>> {
  const { io, globals, diskWait } = context;
  const { flags, timeField } = plan;
  const { out } = files;
  const { filters = {}, ...options } = plan.options;
  /** The last position that was saved: of all rows that it covers, none is in a later file. */
  let last = resumed?.position;
  const followed =
    out === undefined
      ? undefined
      : await openOutputFile(
          context,
          out,
          {
            ...{ rule: flags.rotate, timeField, from: resumed?.place },
            certify: (path, place) => last && certify(path, last, place),
          },
          () => tail.touch(),
        );
  const status = createStatusLine(
    io.stderr,
    canRedraw(io.stderr, io.env) && io.stdout.isTTY === true && !globals.quiet,
    wantsUnicode(io.env, io.platform),
  );
  // Hide the status line before each write, so that rows do not continue its line.
  const openPrinted = () =>
    globals.out === undefined ? openSink(io, undefined, diskWait, status.hide) : undefined;
  const pause = createPause(context, status.hide);
  const linesOf = createNoticeLines(io.clock.mono);
  const output: TailOutput =
    flags.exec === undefined
      ? printTo(
          await context.records(plan.view, false, followed?.sink ?? (await openPrinted())),
          status.hide,
          pause.wait,
        )
      : await (await import('./exec/open.ts')).openHandoff(context, { ...plan, ...files, feed });
  const { confluence } = flags;
  const state = start.kind === 'position' ? start.position.state : undefined;
  const sink = confluence
    ? confluentSink(
        output.sink,
        new Confluence(confluence, plan.fields, state, () => tail.status().verified),
        flags.count,
      )
    : output.sink;
  const saved = positionPath(files);
  const save = (path: string, taken: Position) => {
    const position = { ...taken, filters };
    savePosition(path, position);
    // With --checkpoint, the position is elsewhere.
    if (out !== undefined && files.checkpoint !== undefined && position.file)
      certify(out, position, position.file);
    last = position;
  };
  const tail: Tail = createTail(
    {
      clock: io.clock,
      random: io.random,
      source: plan.source,
      connect: plan.connect,
      sink: {
        ...sink,
        ...(followed && {
          place() {
            const { lines, offset, ...file } = followed.place();
            // A file of confluences has no certificate, because its lines are not posts.
            return confluence ? { ...file, offset: offset + followed.waiting() } : { ...file, offset, lines };
          },
          write(rows) {
            for (const { at } of rows) followed.saw(at);
            return sink.write(rows);
          },
        }),
        waits: diskWait.wait,
        async end() {
          diskWait.close();
          await output.sink.end?.();
        },
      },
      key: keyFacts(client, await context.ledger(), io.clock.now, await accountSharing(context)),
      left: client.left,
      spent: () => client.spent,
      spool: () => openSpool(diskWait),
      save:
        saved === undefined ? undefined : (position) => diskWait.retry(saved, () => save(saved, position)),
    },
    {
      ...options,
      feed,
      start,
      limitLeft: () => context.permission.left,
      lagMs: flags.lag,
      count: confluence ? undefined : flags.count,
      durationMs: flags.duration,
      noFollow: flags.noFollow,
      waitForBudget: flags.waitForBudget,
      firstTries: FIRST_TRIES,
      on(notice) {
        for (const line of linesOf(notice)) {
          status.hide();
          context.notice(notice.kind === 'start' ? context.permission.withLimit(line) : line);
        }
      },
    },
  );
  context.setOutcome({
    text: null,
    total: 0,
    get found() {
      return tail.status().rows;
    },
  });
  const ended = new AbortController();
  const watch = watchStatus(
    context,
    () => pause.isOpen || status.show(diskWait.failure?.message ?? statusText(tail.status())),
    ended.signal,
  );
  try {
    watchHealth(context, flags, watchedTail(tail, io.clock.now, output.handoff));
    const summary = await tail.run(context.signal);
    return { ...summary, check: output.check };
  } catch (error) {
    throw atLimit(error, context, flags.checkpoint, tail.status());
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
