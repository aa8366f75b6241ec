import { basename, extname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { inWords } from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import type { DiskWait } from '../../output/disk-wait.ts';
import { every } from '../every.ts';
import { type TailFacts, type TailHealth, tailMetrics } from '../health.ts';
import { openServiceManager, type ServiceManager } from './notify.ts';

export interface Watched {
  facts(): TailFacts;
  /** The state in one line for people. */
  text(): string;
  /**
   * A main loop that must not hang: `wake` causes an iteration, even if nothing is due, and `turns`
   * counts them.
   */
  loop?(): { readonly turns: number; wake(): void } | undefined;
}

/** The interval between two writes of the status file, once the tail has started. */
const WRITE_MS = 5_000;
/** The interval between two messages to a service manager without watchdog. */
const NOTIFY_MS = 30_000;
/**
 * The interval between two checks whether the tail has started, and until then, between two writes.
 */
const LOOK_MS = 1_000;
/**
 * One message extends the start timeout by this much, because a long first walk would be killed
 * after it.
 */
const START_MS = 60_000;

/** The exit code of a run, and in one word why it ended. */
interface Ended {
  readonly exit: number;
  readonly reason: string;
}

interface HealthRun {
  readonly io: {
    readonly clock: Clock;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly atEnd: Set<(end: Ended) => Promise<void>>;
  };
  readonly signal: AbortSignal;
  readonly notice: (line: string) => void;
  readonly diskWait: Pick<DiskWait, 'failure'>;
  /** The version of the program. */
  readonly version: string;
  /** The path of the command. */
  readonly command: string;
}

interface HealthFlags {
  readonly status?: string | undefined;
  readonly heartbeat?: number | undefined;
}

/**
 * Reports the state of the run to the status file, stderr and the service manager until the run has
 * ended.
 */
export function watchHealth(
  context: HealthRun,
  { status, heartbeat }: HealthFlags,
  run: Watched,
  manager = openServiceManager(context.io.env, context.notice),
): void {
  const { diskWait, signal } = context;
  const { clock, atEnd } = context.io;
  const watched: Watched = {
    ...run,
    facts: () => (diskWait.failure ? { ...run.facts(), mode: 'waiting' } : run.facts()),
    text: () =>
      diskWait.failure ? `waiting: ${diskWait.failure.message} · ${run.text()}` : run.text(),
  };
  const write = status === undefined ? undefined : statusWriter(context, status, watched);
  const progress = new LoopProgress(watched, clock.now);
  progress.look();
  write?.(progress.at);
  const loops = [
    // While the main loop hangs, the file gets old, so that a probe needs to look only at its age.
    write &&
      every(
        clock,
        () => (hasStarted(watched) ? WRITE_MS : LOOK_MS),
        () => progress.look() && write(progress.at),
      ),
    heartbeat === undefined
      ? undefined
      : every(
          clock,
          () => heartbeat,
          () => context.notice(`heartbeat: ${watched.text()}`),
        ),
    manager && every(clock, ...informing(clock, manager, watched)),
  ];
  const stopping = () => manager?.notify({ STOPPING: 1, STATUS: 'stopping' });
  signal.addEventListener('abort', stopping, { once: true });
  // The exit code is known only after everything else of the run has ended.
  atEnd.add(async (result) => {
    if (!signal.aborted) stopping();
    await Promise.all(loops.map((stop) => stop?.()));
    await manager?.settled();
    write?.(progress.at, result);
  });
}

/**
 * A tail that waits for its budget or for a full disk has started: otherwise the boot of the
 * machine would wait too.
 */
function hasStarted({ facts }: Watched): boolean {
  const { ready, mode } = facts();
  return ready || mode === 'waiting';
}

/** Sends READY when the tail counts as started, and WATCHDOG while the main loop does not hang. */
function informing(
  clock: Clock,
  manager: ServiceManager,
  watched: Watched,
): [() => number, () => void] {
  const beatMs = Math.min(NOTIFY_MS, (manager.watchdogMs ?? Number.POSITIVE_INFINITY) / 2);
  const extension = { EXTEND_TIMEOUT_USEC: START_MS * 1_000 };
  manager.notify({ STATUS: 'starting', ...extension });
  let notifiedAt = clock.mono();
  let progress: LoopProgress | undefined;
  const act = () => {
    const STATUS = watched.text();
    if (progress) {
      if (progress.look()) manager.notify({ STATUS, WATCHDOG: 1 });
    } else if (hasStarted(watched)) {
      progress = new LoopProgress(watched, clock.now);
      progress.look();
      manager.notify({ READY: 1, STATUS, WATCHDOG: 1 });
    } else if (clock.mono() - notifiedAt >= START_MS / 3) {
      notifiedAt = clock.mono();
      manager.notify({ STATUS: `starting: ${STATUS}`, ...extension });
    }
  };
  act();
  return [() => (progress ? beatMs : Math.min(LOOK_MS, beatMs)), act];
}

/**
 * Whether a main loop hangs: each check wakes the loop, and the next one finds out whether an
 * iteration followed. Without a loop, nothing blocks.
 */
class LoopProgress {
  /** When the last iteration was noticed. */
  at: number;
  #turns: number | undefined;
  readonly #watched: Watched;
  readonly #now: () => number;

  constructor(watched: Watched, now: () => number) {
    this.#watched = watched;
    this.#now = now;
    this.at = now();
    this.#turns = watched.loop?.()?.turns;
  }

  /** Whether there was an iteration since the last check. */
  look(): boolean {
    const current = this.#watched.loop?.();
    const hasMoved = current === undefined || current.turns !== this.#turns;
    if (hasMoved) this.at = this.#now();
    this.#turns = current?.turns;
    current?.wake();
    return hasMoved;
  }
}

/**
 * If the first write fails, the run ends before it reads the feed; later failures are only
 * reported.
 */
function statusWriter(
  { io, command, version, notice, diskWait }: HealthRun,
  path: string,
  watched: Watched,
) {
  const identity = { tail: basename(path, extname(path)), command, version };
  const startedAt = io.clock.now();
  let failed = false;
  let written = false;
  return (progressAt: number, end: Ended | null = null): void => {
    const { user, system } = process.cpuUsage();
    const health: TailHealth = {
      ...watched.facts(),
      end,
      startedAt,
      progressAt,
      updatedAt: io.clock.now(),
      blocked: diskWait.failure?.message ?? null,
      memoryBytes: process.memoryUsage.rss(),
      cpuMs: (user + system) / 1_000,
    };
    try {
      writeAtomic(path, tailMetrics(health, identity), { private: false, sync: false });
      written = true;
      failed = false;
    } catch (error) {
      const failure = inWords('write', path, error);
      if (!written) throw failure;
      if (!failed)
        notice(`warning: ${failure instanceof Error ? failure.message : String(failure)}`);
      failed = true;
    }
  };
}
