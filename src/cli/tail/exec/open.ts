import { Failure, usageError } from '../../../base/failure.ts';
import type { View } from '../../../output/view.ts';
import {
  type Batch,
  createDelivery,
  type Delivery,
  type HandoffHealth,
  type HandoffNotice,
  type HandoffRow,
} from '../../../tail/exec/delivery.ts';
import { createHandoff } from '../../../tail/exec/handoff.ts';
import type { TailRow } from '../../../tail/post-row.ts';
import type { Context } from '../../context.ts';
import { createNoticeLimit } from '../../output/notice-limit.ts';
import { createTextPrinter } from '../../output/output.ts';
import type { ExecFlags } from '../flags.ts';
import type { TailOutput } from '../output/writer.ts';
import { readCommand, runCommand } from './command.ts';
import { openDeadLetters } from './dead-letters.ts';
import { handedOverText, handoffText, postsText } from './handoff-text.ts';

export const BATCH = 100;
export const LINGER_MS = 1_000;
const TRIES = 10;

/** Checks `--exec` and the output format before anything is paid for. */
export function checkExec({ globals, io }: Context, { exec }: ExecFlags): void {
  if (exec === undefined) return;
  if (globals.out !== undefined)
    throw usageError('--exec and --out cannot be combined', 'let the command write the file');
  const format = globals.json ? 'json' : globals.output;
  if (format !== undefined && format !== 'ndjson')
    throw usageError(`--exec hands over NDJSON, not ${format}`, `remove ${globals.json ? '--json' : '-o'}`);
  readCommand(exec, io);
}

interface Parts {
  readonly view: View<TailRow['record']>;
  readonly flags: ExecFlags;
  readonly checkpoint: string | undefined;
  /** Identifies the feed. */
  readonly feed: string;
  /**
   * Whether the next run knows which posts the command acknowledged. The default is whether there is a
   * checkpoint file.
   */
  readonly remembered?: boolean;
}

/** Delivers batches to the command, with retries and the dead-letter file. */
interface Courier {
  readonly encode: (row: TailRow) => Uint8Array;
  deliver(batch: Batch, stop: AbortSignal): Promise<Delivery>;
  /** The state for monitoring. `queued` are the rows that are not in a batch yet. */
  health(queued: readonly HandoffRow[]): HandoffHealth;
  /** Throws if this run has dead letters: a run that ends by itself with dead letters has failed. */
  check(): void;
  /** Ends the handoff: reports suppressed notices, and lets the process shut down. */
  release(): void;
}

/** The kinds of notices that a failing command can cause any number of times. */
const repeated: ReadonlySet<HandoffNotice['kind']> = new Set<HandoffNotice['kind']>(['failed', 'recovered']);

/** Opens the delivery of batches to the command. */
export async function openCourier(context: Context, parts: Parts): Promise<Courier> {
  const { io, signal, settings, diskWait } = context;
  const { view, flags, checkpoint, feed, remembered = checkpoint !== undefined } = parts;
  const command = readCommand(flags.exec ?? '', io);
  const name = `${feed}\n${flags.exec}`;
  const letters = openDeadLetters({ checkpoint, state: settings.folders.state, name, diskWait });
  const limit = createNoticeLimit(io.clock.mono, repeated);
  const encode = await createEncoder(context, view);
  let running: Batch | undefined;
  const reportWait = () => {
    if (running)
      context.notice(`waiting for the command (batch ${running.number}); a second signal kills the command`);
  };
  signal.addEventListener('abort', reportWait, { once: true });
  // Delay a shutdown only after the first batch has started. A run that fails earlier must not wait.
  let letGo: (() => void) | undefined;
  const { deliver, health } = createDelivery({
    clock: io.clock,
    random: io.random,
    deadLetter: letters.save,
    async run(batch, attempt) {
      letGo ??= io.inFlight.hold();
      running = batch;
      try {
        return await runCommand(command, batch, attempt);
      } finally {
        running = undefined;
      }
    },
    notify(notice) {
      const text = limit.show(notice.kind, handoffText(notice, letters.path ?? ''));
      if (text !== undefined) context.notice(text);
    },
    tries: flags.tries === 0 ? Number.POSITIVE_INFINITY : (flags.tries ?? TRIES),
    forgetful: !remembered,
  });
  return {
    encode,
    deliver,
    health,
    check() {
      const { deadRows } = health([]);
      if (deadRows === 0) return;
      throw new Failure(
        'local',
        `the command did not accept ${postsText(deadRows)}, which trdr saved to ${letters.path}`,
        {
          code: 'DEAD_LETTER',
          hint: 'when the cause is fixed, move that file away and hand it over again with --replay FILE (see docs/exec.md)',
        },
      );
    },
    release() {
      signal.removeEventListener('abort', reportWait);
      for (const text of limit.rest()) context.notice(text);
      letGo?.();
    },
  };
}

/** Formats rows as lines of NDJSON, like the lines that a tail without --exec prints. */
async function createEncoder(
  context: Context,
  view: View<TailRow['record']>,
): Promise<(row: TailRow) => Uint8Array> {
  const printer = await createTextPrinter(context, view, { format: 'ndjson', live: true });
  return ({ raw, record }) => {
    if (raw !== null && printer.writeRaw) printer.writeRaw(raw);
    else printer.write(record);
    return printer.take();
  };
}

/** Hands the rows of a tail over to the command. */
export async function openHandoff(context: Context, parts: Parts): Promise<TailOutput> {
  const { io, signal, notice, diskWait } = context;
  const { flags, checkpoint } = parts;
  const courier = await openCourier(context, parts);
  const handoff = createHandoff({
    clock: io.clock,
    encode: courier.encode,
    async deliver(batch, stop) {
      // While the position cannot be saved, a later run would repeat whatever is handed over.
      await diskWait.wait();
      return courier.deliver(batch, stop);
    },
    batch: flags.batch ?? BATCH,
    lingerMs: flags.linger ?? LINGER_MS,
    stop: signal,
    forgetful: checkpoint === undefined,
  });
  if (checkpoint === undefined && !parts.remembered)
    notice('without --checkpoint, the next run does not know which posts were handed over');
  return {
    sink: handoff,
    check: courier.check,
    handoff: () => courier.health(handoff.queued),
    async close() {
      courier.release();
      notice(handedOverText(courier.health(handoff.queued), checkpoint !== undefined));
    },
  };
}
