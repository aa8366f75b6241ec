import { Failure, hintOf } from '../../base/failure.ts';
import { instantAt } from '../../base/times.ts';
import { unitsText } from '../../base/units.ts';
import { BUDGET } from '../../contract/budget.ts';
import type { Client } from '../../contract/ports/client.ts';
import { createStatusLine, type StatusLine } from '../../output/terminal/status-line.ts';
import { canRedraw, wantsUnicode } from '../../output/terminal/style.ts';
import { Tail } from '../../tail/engine.ts';
import { every } from '../../tail/every.ts';
import { resumableOut, type TailFiles } from '../../tail/file/position-file.ts';
import { openSpool } from '../../tail/file/spool.ts';
import type { TailNotice, TailStatus } from '../../tail/notice.ts';
import type { Connect, StartPoint, TailOptions, TailPorts } from '../../tail/ports.ts';
import type { Position } from '../../tail/position.ts';
import { keyFacts } from '../../tail/source.ts';
import { commandWith } from '../command-line.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { accountSharing } from '../run/answers.ts';
import type { Context } from '../run/context.ts';
import { moreText } from '../run/spending-permission.ts';
import type { TailFlags } from './flags.ts';
import { createNoticeLines, feederText, gapText, statusText } from './notice-text.ts';
import {
  type OpenedOutput,
  type OutputPlan,
  openOutput,
  resumeOutput,
} from './output/open-output.ts';
import type { Feeder } from './run-feed.ts';

interface TailPlan extends OutputPlan, Pick<TailPorts, 'source' | 'own'> {
  readonly connect?: Connect | undefined;
  /** What is read for several authors, coins or wallets. */
  readonly what?: string | undefined;
  readonly options: Pick<
    TailOptions,
    'via' | 'cheapest' | 'socketShare' | 'subscription' | 'carries' | 'scope' | 'filter'
  >;
}

/** A tail on a terminal first prints up to this many posts from before its start. */
const RECENT = 10;

/** Opens a run that follows a feed of the service. */
export async function openTail(
  context: Context,
  files: TailFiles,
  client: Client,
  plan: TailPlan,
): Promise<Feeder> {
  const { terminal, service } = context;
  const { io } = terminal;
  const { flags } = plan;
  const resumed = resumeOutput(context, files, plan);
  const start = await startAfter(resumed.position, flags, context);
  const ledger = await service.ledger();
  const key = keyFacts(client, ledger, io.clock.now, await accountSharing(context));
  const status = openStatusLine(context);
  const output = await openOutput(context, plan, files, resumed, {
    hide: status.hide,
    onNewFile: () => tail.saveSoon(),
    verified: () => tail.status().verified,
  });
  const tail: Tail = new Tail(
    {
      clock: io.clock,
      random: io.random,
      source: plan.source,
      own: plan.own,
      connect: plan.connect,
      output: output.ports,
      key,
      left: client.left,
      limits: async () => (await ledger.limits?.()) ?? '',
      spent: () => client.spent,
      trouble: () => client.trouble,
      spool: () => openSpool(context.out.diskWait),
    },
    {
      ...plan.options,
      feed: resumed.feed,
      start,
      limitLeft: () => service.permission.left,
      lagMs: flags.lag,
      count: flags.count,
      durationMs: flags.duration,
      noFollow: flags.noFollow,
      waitForBudget: flags.waitForBudget,
      on: noticePrinter(context, plan.what),
    },
  );
  return tailFeeder(context, flags, tail, output, status);
}

/** The line on the terminal that shows the state of a tail while nothing is printed. */
function openStatusLine({ terminal, settings }: Context): StatusLine {
  const { stderr, stdout, env, platform } = terminal.io;
  const isShown = canRedraw(stderr, env) && stdout.isTTY === true && !settings.flags.quiet;
  return createStatusLine(stderr, isShown, wantsUnicode(env, platform));
}

/** Prints the notices of a tail, and the spending limit with the first one. */
function noticePrinter(
  { terminal, service }: Context,
  what?: string,
): (notice: TailNotice) => void {
  const subject = what === undefined ? '' : `${what}: `;
  const linesOf = createNoticeLines(terminal.io.clock.mono);
  return (notice) => {
    for (const line of linesOf(notice)) {
      const isStart = notice.kind === 'start';
      terminal.notice(isStart ? service.permission.withLimit(`${subject}${line}`) : line);
    }
  };
}

/** A tail with its state, and with the failure of its end, in words. */
function tailFeeder(
  context: Context,
  { checkpoint }: TailFlags,
  tail: Tail,
  output: OpenedOutput,
  status: StatusLine,
): Feeder {
  const { io, signal } = context.terminal;
  const facts = () => ({ ...tail.status(), handoff: output.handoff?.() ?? null });
  const show = () =>
    output.isPaused() ||
    status.show(context.out.diskWait.failure?.message ?? statusText(tail.status()));
  const isWatched = io.stderr.isTTY === true && io.stdout.isTTY === true;
  const stopShowing = isWatched ? every(io.clock, () => 1_000, show) : undefined;
  return {
    watched: {
      facts,
      loop: () => ({ turns: tail.status().turns, wake: () => tail.wake() }),
      text: () => feederText(facts(), io.clock.now(), statusText(tail.status())),
    },
    check: output.check,
    async run() {
      try {
        const { reason, gaps } = await tail.run(signal);
        const [gap] = gaps;
        return { gap: gap && reason !== 'reader' ? gapText(gap) : undefined };
      } catch (error) {
        throw atLimit(error, context, checkpoint, tail.status());
      }
    },
    async close() {
      await stopShowing?.();
      await output.close();
    },
  };
}

/** Where a tail begins: after the position of an earlier run, otherwise as its flags say. */
async function startAfter(
  position: Position | undefined,
  flags: TailFlags,
  context: Context,
): Promise<StartPoint> {
  // A follower of the store that has read no post yet has no place in the pages.
  const isPlaced = position && (position.verified !== null || !position.stream);
  return isPlaced ? { kind: 'position', position } : await startOf(flags, context);
}

async function startOf(
  { backfill, since, count, checkpoint, exec }: TailFlags,
  context: Context,
): Promise<StartPoint> {
  const { io } = context.terminal;
  const { settings } = context;
  const { flags } = settings;
  if (since !== undefined) {
    const now = (await serviceClock(context)).now();
    return { kind: 'since', at: instantAt(since, now, settings.utc) };
  }
  if (backfill !== undefined) return { kind: 'backfill', rows: backfill };
  // The first page is read in any case. Pipes, and runs that are bound to a file, a number or a
  // command, get only new posts.
  const isBound = [flags.out, checkpoint, count, exec].some((flag) => flag !== undefined);
  return io.stdout.isTTY === true && !isBound ? { kind: 'now', recent: RECENT } : { kind: 'now' };
}

/**
 * The failure of a tail that reached its spending limit or a budget, with the command that
 * continues it.
 */
function atLimit(
  error: unknown,
  { terminal, settings }: Context,
  checkpoint: string | undefined,
  { spent, verified, neededCeiling }: Pick<TailStatus, 'spent' | 'verified' | 'neededCeiling'>,
): unknown {
  if (!(error instanceof Failure) || (error.code !== 'CEILING' && error.code !== BUDGET))
    return error;
  const { code, message, retryAfter } = error;
  const file = checkpoint ?? resumableOut(settings.flags.out);
  const isWaiting = code !== BUDGET || terminal.io.argv.includes('--wait-for-budget');
  const argv = isWaiting ? terminal.io.argv : [...terminal.io.argv, '--wait-for-budget'];
  // Without a file to continue from, the next run begins at the time up to which the feed is
  // verified.
  const since =
    file === undefined && verified !== null ? new Date(verified).toISOString() : undefined;
  const command = since && commandWith(argv, { '--backfill': undefined, '--since': since });
  if (code === BUDGET) {
    const from = file === undefined ? '' : ` from ${file}`;
    const next = `continue${from} with: ${command ?? commandWith(argv)}`;
    return new Failure('limit', message, { code, retryAfter, hint: `${hintOf(error)}; ${next}` });
  }
  const from = file === undefined ? '' : `: it continues from ${file}`;
  const next = command ? `continue with: ${command}` : `run the same command again${from}`;
  // Each run begins at the newest post, so with the same limit none of them would get further.
  const more =
    neededCeiling === null
      ? moreText(settings.maxCu)
      : `the older posts need a higher limit, because each run reads the newest ones first: --max-cu ${neededCeiling}`;
  return new Failure('limit', `${message}; this run has cost up to ${unitsText(spent.atMost)}`, {
    code,
    hint: `${more}; ${next}`,
  });
}
