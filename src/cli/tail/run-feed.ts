import { once } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import { checkSpace } from '../../output/file.ts';
import { outputClosed } from '../../output/sink.ts';
import { resumableOut, type TailFiles } from '../../tail/file/position-file.ts';
import { nothingMeasured, type TailFacts } from '../../tail/health.ts';
import { lockFiles } from '../../tail/lock-files.ts';
import { type Watched, watchHealth } from '../../tail/status/watch.ts';
import type { Context } from '../run/context.ts';
import { version } from '../version.ts';
import type { ServiceFlags, TailFlags } from './flags.ts';
import { noteRun, outputOf } from './run-note.ts';
import { UnitsWait } from './units-wait.ts';
import { watchList } from './watch-list.ts';

/**
 * What follows a feed: a tail of the service, a follower of the store, a member of a group, a
 * relay, or a replay of files.
 */
export interface Feeder {
  readonly watched: Watched;
  /** Runs until the end of the run, and says how it ended. */
  run(): Promise<FeedEnd>;
  /** Throws if the run must fail because of its output, such as dead letters. */
  readonly check?: (() => void) | undefined;
  close(): Promise<void>;
}

interface FeedEnd {
  /** What is missing, if the run ended by itself although no later run will deliver it. */
  readonly gap?: string | undefined;
  /** The last line of the run. */
  readonly line?: string | undefined;
}

interface FeedFlags
  extends ServiceFlags,
    Partial<Pick<TailFlags, 'checkpoint' | 'waitForBudget' | 'exec'>> {
  /** The feed in words, for "trdr tails"; undefined for a replay, which follows none. */
  readonly feed?: string | undefined;
  /** The file that names whose posts are read. */
  readonly list?: string | undefined;
  readonly isRelay?: boolean;
}

/**
 * Locks the files of a run, opens its feeder, reports its state, and fails if posts are missing at
 * the end.
 */
export async function runFeed(
  context: Context,
  flags: FeedFlags,
  open: (files: TailFiles) => Promise<Feeder>,
): Promise<void> {
  const { terminal, settings, bill } = context;
  const { signal, notice } = terminal;
  const { checkpoint, status } = flags;
  const files = { out: resumableOut(settings.flags.out), checkpoint };
  const unlock = lockFiles(settings.folders.state, files.out, checkpoint, status);
  const stopWatching = watchList(terminal, flags.list);
  try {
    for (const path of [files.out, checkpoint]) if (path !== undefined) checkSpace(path);
    const run = new FeedRun(context, flags);
    bill.outcome = run;
    if (flags.feed !== undefined) {
      const output = flags.isRelay ? 'store' : outputOf(terminal.io.cwd, files.out, flags.exec);
      noteRun(context, { feed: flags.feed, output, facts: run.facts });
    }
    const { line, gap } = await run.toEnd(() => open(files));
    if (line !== undefined) notice(line);
    // The reason of the abort determines the exit code: a signal, or a full disk.
    if (signal.reason !== outputClosed) signal.throwIfAborted();
    if (gap !== undefined) throw gapFailure(gap);
    run.check();
  } finally {
    await stopWatching();
    unlock();
  }
}

/**
 * One run of a feeder, whose state is reported from the moment at which it follows its feed or
 * waits for units.
 */
class FeedRun {
  /**
   * The bill has no words for a run that follows a feed, because its last line says what it did.
   */
  readonly text = null;
  readonly total = 0;
  #feeder: Feeder | undefined;
  readonly #context: Context;
  readonly #flags: FeedFlags;
  readonly #wait: UnitsWait;
  readonly #watch = once(() => this.#report());

  constructor(context: Context, flags: FeedFlags) {
    this.#context = context;
    this.#flags = flags;
    this.#wait = new UnitsWait(context.terminal, context.service, () => this.#watch());
  }

  /** How many posts were delivered. */
  get found(): number {
    return this.#feeder?.watched.facts().rows ?? 0;
  }

  /** What is known of the run. A property, because it is handed to what reports it. */
  readonly facts = (): TailFacts =>
    this.#feeder?.watched.facts() ?? { ...nothingMeasured, waitsUntil: this.#wait.until };

  check(): void {
    this.#feeder?.check?.();
  }

  /**
   * Opens the feeder, with `--wait-for-budget` when units cover it, and follows the feed until the
   * end.
   */
  async toEnd(open: () => Promise<Feeder>): Promise<FeedEnd> {
    try {
      this.#feeder = await (this.#flags.waitForBudget ? this.#wait.retry(open) : open());
      this.#watch();
      return await this.#feeder.run();
    } finally {
      this.#context.out.diskWait.close();
      await this.#feeder?.close();
    }
  }

  #report(): void {
    const { terminal, settings, out } = this.#context;
    const { io, signal, notice } = terminal;
    const { diskWait } = out;
    const { command } = settings;
    watchHealth({ io, signal, notice, command, version, diskWait }, this.#flags, {
      facts: this.facts,
      text: () => this.#feeder?.watched.text() ?? `${this.#wait.text} for units`,
      loop: () => this.#feeder?.watched.loop?.(),
    });
  }
}

/**
 * The failure of a run that ended by itself although posts are missing, which no later run will
 * deliver.
 */
const gapFailure = (text: string): Failure =>
  new Failure('service', text, {
    code: 'GAP',
    hint: 'read that part of the feed again with --since and --until of the list command',
  });
