import { closeSync, openSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../../base/failure.ts';
import { appendLines, ensureFolder, fileFailure, statsOf } from '../../../base/files.ts';
import { syncFile } from '../../../base/replace-file.ts';
import { sha256 } from '../../../base/sha256.ts';
import { countText } from '../../../base/units.ts';
import { span } from '../../../output/format/time.ts';
import { safeLine } from '../../../output/terminal/safe-text.ts';
import type { View } from '../../../output/view.ts';
import { runCommand } from '../../../tail/exec/command.ts';
import { CommandWriter } from '../../../tail/exec/command-writer.ts';
import {
  type Batch,
  createDelivery,
  type HandoffHealth,
  type HandoffNotice,
} from '../../../tail/exec/delivery.ts';
import type { TailRow } from '../../../tail/post-row.ts';
import type { Context } from '../../run/context.ts';
import { createNoticeLimit } from '../../run/notice-limit.ts';
import { createTextPrinter } from '../../run/printing.ts';
import type { TailFlags } from '../flags.ts';
import type { RunWriter } from '../output/run-writer.ts';

const BATCH = 100;
const LINGER_MS = 1_000;
const TRIES = 10;

interface Handing {
  readonly view: View<TailRow['record']>;
  readonly flags: Pick<TailFlags, 'exec' | 'batch' | 'linger' | 'tries'>;
  readonly checkpoint: string | undefined;
  /** Identifies the feed. */
  readonly feed: string;
  /** Whether the next run knows which posts were acknowledged; by default, if there is a checkpoint file. */
  readonly remembered?: boolean;
}

/** The kinds of notices that a failing command can cause any number of times. */
const repeated: ReadonlySet<HandoffNotice['kind']> = new Set<HandoffNotice['kind']>([
  'failed',
  'recovered',
]);

/** Opens the delivery of batches to the command, with retries and the dead-letter file. */
export async function openCourier(
  context: Context,
  { view, flags, checkpoint, feed, remembered }: Handing,
) {
  const { io, signal } = context.terminal;
  const { settings } = context;
  const { state } = settings.folders;
  const own =
    state && join(state, 'tails', `${sha256(`${feed}\n${flags.exec}`).slice(0, 32)}.dead.ndjson`);
  const deadLetters = checkpoint === undefined ? own : `${checkpoint}.dead.ndjson`;
  const limit = createNoticeLimit(io.clock.mono, repeated);
  const printer = await createTextPrinter(context, view, { format: 'ndjson', live: true });
  let running: Batch | undefined;
  const reportWait = () => {
    if (running)
      context.terminal.notice(
        `waiting for the command (batch ${running.number}); a second signal kills the command`,
      );
  };
  signal.addEventListener('abort', reportWait, { once: true });
  // Delay a shutdown only after the first batch has started. A run that fails earlier must not wait.
  let letGo: (() => void) | undefined;
  const { deliver, health } = createDelivery({
    clock: io.clock,
    random: io.random,
    async deadLetter({ rows }) {
      const path = deadLetters;
      if (path === undefined)
        throw new Failure(
          'local',
          'the command did not accept a batch, and there is no folder in which to save the batch',
          {
            code: 'DEAD_LETTER',
            hint: 'set TRDR_STATE_DIR to a folder, or retry forever with --tries 0',
          },
        );
      const text = Buffer.concat(rows.map(({ line }) => line)).toString('utf8');
      await context.out.diskWait
        .retry(path, () => saveDead(path, text, checkpoint === undefined))
        .catch((error: unknown) => {
          throw fileFailure('write', path, error);
        });
    },
    async run(batch, attempt) {
      letGo ??= io.inFlight.hold();
      running = batch;
      try {
        return await runCommand(flags.exec ?? '', io, batch, attempt);
      } finally {
        running = undefined;
      }
    },
    notify(notice) {
      const text = limit.show(notice.kind, handoffText(notice, deadLetters ?? ''));
      if (text !== undefined) context.terminal.notice(text);
    },
    tries: flags.tries === 0 ? Number.POSITIVE_INFINITY : (flags.tries ?? TRIES),
    forgetful: !(remembered ?? checkpoint !== undefined),
  });
  return {
    batch: flags.batch ?? BATCH,
    lingerMs: flags.linger ?? LINGER_MS,
    /** Formats a row as a line of NDJSON, like the lines that a tail without --exec prints. */
    encode({ raw, record }: TailRow): Uint8Array {
      if (raw !== null && printer.writeRaw) printer.writeRaw(raw);
      else printer.write(record);
      return printer.take();
    },
    deliver,
    /** The state for monitoring. `queued` are the rows that are not in a batch yet. */
    health,
    /** Throws if this run has dead letters: a run that ends by itself with dead letters has failed. */
    check(): void {
      const { deadRows } = health([]);
      if (deadRows === 0) return;
      throw new Failure(
        'local',
        `the command did not accept ${postsText(deadRows)}, which trdr saved to ${deadLetters}`,
        {
          code: 'DEAD_LETTER',
          hint: 'when the cause is fixed, move that file away and hand it over again with --replay FILE (see docs/exec.md)',
        },
      );
    },
    /** Ends the handoff: reports suppressed notices, and lets the process shut down. */
    release(): void {
      signal.removeEventListener('abort', reportWait);
      for (const text of limit.rest()) context.terminal.notice(text);
      letGo?.();
    },
  };
}

/** Appends the lines of a batch, and syncs the file. If not all of them fit on the disk, removes those that do. */
function saveDead(path: string, text: string, isOwnFolder: boolean): void {
  if (isOwnFolder) ensureFolder(dirname(path));
  const size = statsOf(path)?.size ?? 0;
  let fd: number | undefined;
  try {
    appendLines(path, text);
    fd = openSync(path, 'r+');
    syncFile(fd);
  } catch (error) {
    if (statsOf(path)) truncateSync(path, size);
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Opens the output of a run that hands rows to a command. */
export async function openHandoff(
  context: Context,
  handing: Handing,
): Promise<RunWriter<CommandWriter>> {
  const { io, signal, notice } = context.terminal;
  const { checkpoint } = handing;
  const courier = await openCourier(context, handing);
  const writer = new CommandWriter({
    clock: io.clock,
    encode: courier.encode,
    async deliver(batch, stop) {
      // While the position cannot be saved, a later run would repeat whatever is handed over.
      await context.out.diskWait.wait();
      return courier.deliver(batch, stop);
    },
    batch: courier.batch,
    lingerMs: courier.lingerMs,
    stop: signal,
    forgetful: checkpoint === undefined,
  });
  if (checkpoint === undefined && !handing.remembered)
    notice('without --checkpoint, the next run does not know which posts were handed over');
  const health = () => courier.health(writer.queued);
  return {
    writer,
    closed: undefined,
    check: courier.check,
    handoff: health,
    async close() {
      courier.release();
      notice(handedOverText(health(), checkpoint !== undefined));
    },
  };
}

const postsText = (count: number): string => countText(count, 'post');

const batchText = ({ number, rows }: Batch) => `batch ${number} (${postsText(rows.length)})`;

function handoffText(notice: HandoffNotice, deadLetters: string): string {
  const { batch } = notice;
  switch (notice.kind) {
    case 'failed':
      return `the command failed on ${batchText(batch)}: ${safeLine(notice.why)}; retrying in ${waitText(notice.waitMs)}`;
    case 'recovered':
      return `the command accepted ${batchText(batch)} after ${countText(notice.attempts, 'attempt')}`;
    case 'dead':
      return `the command failed on ${batchText(batch)} after ${countText(notice.attempts, 'attempt')}: ${safeLine(notice.why)}; the batch was saved to ${deadLetters}`;
  }
}

const waitText = (ms: number) => (ms < 1_000 ? `${Math.round(ms)}ms` : span(ms));

/** The last line of a run, with the number of posts that were handed over. */
function handedOverText(
  { batches, rows, deadRows, pendingRows }: HandoffHealth,
  resumes: boolean,
): string {
  const parts = [
    `handed over ${postsText(rows)} in ${countText(batches, 'batch', 'batches')}`,
    deadRows > 0 ? `${postsText(deadRows)} in the dead-letter file` : '',
    pendingRows > 0
      ? `${postsText(pendingRows)} ${resumes ? 'left for the next run' : 'not handed over'}`
      : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}
