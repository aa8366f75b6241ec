import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { once } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import { checkFolder, realPath } from '../../base/files.ts';
import { holdLock, type LockHandle } from '../../base/lock.ts';
import { checkSpace } from '../../output/file.ts';
import { outputClosed } from '../../output/sink.ts';
import { resumableOut, type TailFiles } from '../../tail/file/position-file.ts';
import { nothingMeasured } from '../../tail/health.ts';
import { type Watched, watchHealth } from '../../tail/service/watch.ts';
import { waitsForUnits } from '../../tail/spend/units-left.ts';
import type { Context } from '../run/context.ts';
import type { Settings } from '../settings/settings.ts';
import { version } from '../version.ts';
import type { ServiceFlags, TailFlags } from './flags.ts';
import { untilText } from './notice-text.ts';

/** What follows a feed: a tail of the service, a follower of the store, a member of a group, or a relay. */
export interface Feeder {
  readonly watched: Watched;
  /** Returns the last line, and what is missing, if the run ended by itself although no later run will deliver it. */
  run(): Promise<{ readonly gap?: string | undefined; readonly line?: string | undefined }>;
  /** Throws if the run must fail because of its output, such as dead letters. */
  readonly check?: (() => void) | undefined;
  close(): Promise<void>;
}

/** The maximum wait before the next attempt: the user may have topped up the key. */
const LOOK_MS = 10 * 60_000;
/** How often the limits of the budgets are read meanwhile: one that is raised ends the wait. */
const LIMITS_MS = 5_000;

/** Locks the files of a run, opens its feeder, reports its state, and fails if posts are missing at the end. */
export async function runFeed(
  context: Context,
  flags: ServiceFlags & Partial<Pick<TailFlags, 'checkpoint' | 'waitForBudget'>>,
  open: (files: TailFiles) => Promise<Feeder>,
): Promise<void> {
  const { terminal, settings, out } = context;
  const { signal, io } = terminal;
  const { checkpoint, status } = flags;
  const files = { out: resumableOut(settings.flags.out), checkpoint };
  const unlock = lockFiles(settings, files.out, checkpoint, status);
  let feeder: Feeder | undefined;
  let waitsUntil: number | null = null;
  const waitText = () => `waiting until ${untilText(waitsUntil ?? 0)}`;
  const watch = once(() =>
    watchHealth(
      {
        io,
        signal,
        notice: terminal.notice,
        command: settings.command,
        version,
        diskWait: out.diskWait,
      },
      flags,
      {
        facts: () => feeder?.watched.facts() ?? { ...nothingMeasured, waitsUntil },
        text: () => feeder?.watched.text() ?? `${waitText()} for units`,
        loop: () => feeder?.watched.loop?.(),
      },
    ),
  );

  /** How long to wait; undefined if waiting does not help. */
  async function unitsMs(failure: Failure): Promise<number | undefined> {
    const isDue = waitsForUnits(failure, io.clock.now(), false) !== undefined;
    const left = isDue ? (await context.service.client()).left.key : undefined;
    return waitsForUnits(failure, io.clock.now(), left?.isGrantedOnce ?? false);
  }

  async function waitForUnits(ms: number): Promise<void> {
    const { limits } = await context.service.ledger();
    const before = await limits?.();
    const until = io.clock.now() + ms;
    for (let left = ms; left > 0; left = until - io.clock.now()) {
      await io.clock.sleep(Math.min(LIMITS_MS, left), signal);
      if ((await limits?.()) !== before) return;
    }
  }

  /** With --wait-for-budget, waits while a budget or the allowance does not cover a call that opening needs. */
  async function openInBudget(): Promise<Feeder> {
    for (;;) {
      try {
        return await open(files);
      } catch (error) {
        const ms = error instanceof Failure ? await unitsMs(error) : undefined;
        if (!flags.waitForBudget || !(error instanceof Failure) || ms === undefined) throw error;
        const isFirst = waitsUntil === null;
        waitsUntil = io.clock.now() + ms;
        watch();
        if (isFirst) terminal.notice(`${waitText()}: ${error.message}`);
        await waitForUnits(Math.min(LOOK_MS, Math.max(1_000, ms)));
      }
    }
  }

  try {
    for (const path of [files.out, checkpoint]) if (path !== undefined) checkSpace(path);
    context.bill.outcome = {
      text: null,
      total: 0,
      get found() {
        return feeder?.watched.facts().rows ?? 0;
      },
    };
    let end: Awaited<ReturnType<Feeder['run']>>;
    try {
      feeder = await openInBudget();
      watch();
      end = await feeder.run();
    } finally {
      out.diskWait.close();
      await feeder?.close();
    }
    if (end.line !== undefined) terminal.notice(end.line);
    // The reason of the abort determines the exit code: a signal, or a full disk.
    if (signal.reason !== outputClosed) signal.throwIfAborted();
    if (end.gap !== undefined) throw gapFailure(end.gap);
    feeder.check?.();
  } finally {
    unlock();
  }
}

/** The failure of a run that ended by itself although posts are missing, which no later run will deliver. */
const gapFailure = (text: string): Failure =>
  new Failure('service', text, {
    code: 'GAP',
    hint: 'read that part of the feed again with --since and --until of the list command',
  });

/** Locks the output and other files against other tails. Returns a function that unlocks them. */
function lockFiles(
  { folders: { state } }: Pick<Settings, 'folders'>,
  out: string | undefined,
  ...others: readonly (string | undefined)[]
): () => void {
  const targets = [out, ...others].flatMap((path) => (path === undefined ? [] : realPath(path)));
  // Without this check, acquiring the lock would create the folder, even if the path has a typo.
  for (const target of targets) checkFolder(dirname(target));
  const locks: LockHandle[] = [];
  const release = () => {
    for (const lock of locks) lock.release();
  };
  try {
    for (const target of targets) locks.push(holdLock(`${target}.lock`, target));
    // A file with hard links has several names, so also lock it by its inode.
    const found =
      out === undefined ? undefined : statSync(out, { bigint: true, throwIfNoEntry: false });
    if (out !== undefined && state !== undefined && found && found.nlink > 1n)
      locks.push(holdLock(join(state, 'tails', `${found.dev}-${found.ino}.lock`), out));
  } catch (error) {
    release();
    throw error;
  }
  return release;
}
