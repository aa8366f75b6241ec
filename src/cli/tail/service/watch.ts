import { basename, extname } from 'node:path';
import { inWords } from '../../../base/files.ts';
import { writeAtomic } from '../../../base/replace-file.ts';
import type { Tail } from '../../../tail/engine.ts';
import type { HandoffHealth } from '../../../tail/exec/delivery.ts';
import { type TailFacts, type TailHealth, tailMetrics } from '../../../tail/health.ts';
import type { Context } from '../../context.ts';
import type { RunEnd } from '../../io.ts';
import { version } from '../../version.ts';
import { handoffStateText } from '../exec/handoff-text.ts';
import { deliveredText, statusText } from '../notice-text.ts';
import type { ServiceFlags } from './flags.ts';
import { openServiceManager, type ServiceManager } from './notify.ts';

/** A tail that is monitored. */
export interface Watched {
  facts(): TailFacts;
  /** The state in one line for people. */
  text(): string;
  /** The number of iterations of the main loop so far. */
  turns(): number;
  /** Causes one iteration of the main loop, even if nothing is due. */
  wake(): void;
}

/** The interval between two writes of the status file, once the tail has started. */
const WRITE_MS = 5_000;
/** The interval between two messages to a service manager without watchdog. */
const NOTIFY_MS = 30_000;
/** The interval between two checks whether the tail has started, and until then, between two writes. */
const LOOK_MS = 1_000;
/**
 * By how much one message extends the start timeout. A service manager kills a service that does not start in
 * time, and a long first walk may need more time.
 */
const START_MS = 60_000;

/** The facts about the run that a health watch needs. */
export type HealthRun = Pick<Context, 'io' | 'command' | 'notice' | 'signal' | 'diskWait'>;

/**
 * Reports the state of the run to the status file, stderr and the service manager until the run has ended. Returns a
 * function that ends the reports earlier, without an end of the run, because another watch continues them.
 */
export function watchHealth(
  context: HealthRun,
  flags: ServiceFlags,
  tail: Watched,
  manager: ServiceManager | undefined = openServiceManager(context.io, context.notice),
): () => Promise<void> {
  const { clock, atEnd } = context.io;
  const { heartbeat } = flags;
  const watched = withDiskWait(tail, context.diskWait);
  const ended = new AbortController();
  const write = flags.status === undefined ? undefined : statusWriter(context, flags.status, watched);
  const progress = progressOf(watched, clock.now);
  let written = progress.look();
  write?.(written);
  const loops = [
    write &&
      every(
        () => (hasStarted(watched.facts()) ? WRITE_MS : LOOK_MS),
        () => {
          // While the main loop hangs, the file gets old, so that a probe needs to look only at its age.
          if (progress.look() === written) return;
          written = progress.at();
          write(written);
        },
      ),
    heartbeat === undefined
      ? undefined
      : every(
          () => heartbeat,
          () => context.notice(`heartbeat: ${watched.text()}`),
        ),
    manager && inform(context, manager, watched, ended.signal),
  ];

  async function every(ms: () => number, act: () => void): Promise<void> {
    while (await pause(context, ms(), ended.signal)) act();
  }

  const stopping = () => manager?.notify({ STOPPING: 1, STATUS: 'stopping' });
  context.signal.addEventListener('abort', stopping, { once: true });
  const handOver = async () => {
    atEnd.delete(end);
    context.signal.removeEventListener('abort', stopping);
    ended.abort();
    await Promise.all(loops);
    await manager?.settled();
  };
  // The exit code is known only after everything else of the run has ended.
  const end = async (result: RunEnd) => {
    if (!context.signal.aborted) stopping();
    await handOver();
    write?.(progress.at(), result);
  };
  atEnd.add(end);
  return handOver;
}

/** Adds to the state that the run waits because a file cannot be written. */
const withDiskWait = ({ facts, text, ...tail }: Watched, diskWait: HealthRun['diskWait']): Watched => ({
  ...tail,
  facts: () => (diskWait.failure ? { ...facts(), mode: 'waiting' } : facts()),
  text: () => (diskWait.failure ? `waiting: ${diskWait.failure.message} · ${text()}` : text()),
});

/**
 * Whether the service counts as started. This includes a tail that waits for its budget or for a full
 * disk: otherwise `systemctl start`, or the boot of the machine, would wait too.
 */
const hasStarted = ({ ready, mode }: TailFacts) => ready || mode === 'waiting';

/** Waits for the given time; returns false if the watch has ended. */
async function pause({ io }: Pick<HealthRun, 'io'>, ms: number, until: AbortSignal): Promise<boolean> {
  try {
    await io.clock.sleep(ms, until);
    return true;
  } catch (error) {
    if (until.aborted) return false;
    throw error;
  }
}

/**
 * Notifies the service manager when the tail counts as started, and then at intervals while the main loop
 * does not hang.
 */
async function inform(
  context: HealthRun,
  manager: ServiceManager,
  watched: Watched,
  until: AbortSignal,
): Promise<void> {
  const { clock } = context.io;
  const beatMs = Math.min(NOTIFY_MS, (manager.watchdogMs ?? Number.POSITIVE_INFINITY) / 2);
  const extension = { EXTEND_TIMEOUT_USEC: START_MS * 1_000 };
  manager.notify({ STATUS: 'starting', ...extension });
  let notifiedAt = clock.mono();
  while (!hasStarted(watched.facts())) {
    if (!(await pause(context, Math.min(LOOK_MS, beatMs), until))) return;
    if (clock.mono() - notifiedAt < START_MS / 3) continue;
    notifiedAt = clock.mono();
    manager.notify({ STATUS: `starting: ${watched.text()}`, ...extension });
  }
  const progress = progressOf(watched, clock.now);
  progress.look();
  manager.notify({ READY: 1, STATUS: watched.text(), WATCHDOG: 1 });
  while (await pause(context, beatMs, until)) {
    const before = progress.turns();
    progress.look();
    if (progress.turns() !== before) manager.notify({ STATUS: watched.text(), WATCHDOG: 1 });
  }
}

/**
 * Tracks the last iteration of the main loop. Each check wakes the loop, and the next check finds out whether
 * an iteration followed.
 */
function progressOf(watched: Watched, now: () => number) {
  let turns = watched.turns();
  let at = now();
  return {
    turns: () => turns,
    at: () => at,
    look(): number {
      if (watched.turns() !== turns) at = now();
      turns = watched.turns();
      watched.wake();
      return at;
    },
  };
}

/**
 * Writes the status file. If the first write fails, the run ends before it reads the feed; later failures are only
 * reported.
 */
function statusWriter({ io, command, notice, diskWait }: HealthRun, path: string, watched: Watched) {
  const identity = { tail: basename(path, extname(path)), command, version };
  const startedAt = io.clock.now();
  let failed = false;
  let written = false;
  return (progressAt: number, end: RunEnd | null = null): void => {
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
      if (!failed) notice(`warning: ${failure instanceof Error ? failure.message : String(failure)}`);
      failed = true;
    }
  };
}

/** The state of a tail for the health watch. */
export function watchedTail(
  tail: Tail,
  now: () => number,
  handoff: (() => HandoffHealth) | undefined,
): Watched {
  return {
    facts: () => ({ ...tail.status(), handoff: handoff?.() ?? null }),
    turns: () => tail.status().turns,
    wake: tail.wake,
    text() {
      const status = tail.status();
      const parts = [
        deliveredText(status.rows, status.lastPost, now()),
        statusText(status),
        handoff ? handoffStateText(handoff(), now()) : '',
      ];
      return parts.filter((part) => part !== '').join(' · ');
    },
  };
}
