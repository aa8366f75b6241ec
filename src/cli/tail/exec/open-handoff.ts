import { join } from 'node:path';
import { sha256 } from '../../../base/sha256.ts';
import { countText } from '../../../base/units.ts';
import { span } from '../../../output/format/time.ts';
import { createNoticeLimit, type NoticeLimit } from '../../../output/notice-limit.ts';
import { safeLine } from '../../../output/terminal/safe-text.ts';
import type { View } from '../../../output/view.ts';
import { runCommand } from '../../../tail/exec/command.ts';
import { CommandWriter } from '../../../tail/exec/command-writer.ts';
import { DeadLetters } from '../../../tail/exec/dead-letters.ts';
import {
  type Batch,
  type CommandEnd,
  type Delivery,
  Handoff,
  type HandoffHealth,
  type HandoffNotice,
  type HandoffRow,
} from '../../../tail/exec/delivery.ts';
import type { RunWriter } from '../../../tail/output/run-writer.ts';
import type { TailRow } from '../../../tail/post-row.ts';
import type { Context } from '../../run/context.ts';
import { createTextPrinter, type TextPrinter } from '../../run/open-printer.ts';
import type { Terminal } from '../../run/terminal.ts';
import type { TailFlags } from '../flags.ts';

const BATCH = 100;
const LINGER_MS = 1_000;
const TRIES = 10;

/** What a run prints, or hands to its command. */
export interface HandoffPlan {
  readonly view: View<TailRow['record']>;
  readonly flags: Pick<TailFlags, 'exec' | 'batch' | 'linger' | 'tries'>;
  readonly checkpoint: string | undefined;
  /** Identifies the feed. */
  readonly feed: string;
  /**
   * Whether the next run knows which posts were acknowledged; by default, if there is a checkpoint
   * file.
   */
  readonly remembered?: boolean;
}

/** The kinds of notices that a failing command can cause any number of times. */
const repeated: ReadonlySet<HandoffNotice['kind']> = new Set<HandoffNotice['kind']>([
  'failed',
  'recovered',
]);

/** Opens the delivery of batches to the command, with retries and the dead-letter file. */
async function openCourier(context: Context, handing: HandoffPlan): Promise<Courier> {
  const { terminal, settings, out } = context;
  const { view, flags, checkpoint, feed } = handing;
  const lines = await createTextPrinter(context, view, { format: 'ndjson', live: true });
  const { state } = settings.folders;
  const name = sha256(`${feed}\n${flags.exec}`).slice(0, 32);
  const own = state && join(state, 'tails', `${name}.dead.ndjson`);
  const path = checkpoint === undefined ? own : `${checkpoint}.dead.ndjson`;
  const deadLetters = new DeadLetters(path, checkpoint === undefined, out.diskWait);
  return new Courier(terminal, handing, lines, deadLetters);
}

/**
 * Hands batches to the command of `--exec`, reports on the terminal how that goes, and delays a
 * shutdown meanwhile.
 */
class Courier {
  readonly batch: number;
  readonly lingerMs: number;
  /** The batch that the command is working on. */
  #running: Batch | undefined;
  /** Lets the process shut down; undefined before the first batch. */
  #letGo: (() => void) | undefined;
  readonly #handoff: Handoff;
  readonly #limit: NoticeLimit<HandoffNotice['kind']>;
  readonly #terminal: Terminal;
  readonly #command: string;
  /** Formats the rows that the command receives. */
  readonly #lines: TextPrinter<TailRow['record']>;
  readonly #deadLetters: DeadLetters;

  constructor(
    terminal: Terminal,
    { flags, checkpoint, remembered = checkpoint !== undefined }: HandoffPlan,
    lines: TextPrinter<TailRow['record']>,
    deadLetters: DeadLetters,
  ) {
    const { clock, random } = terminal.io;
    this.batch = flags.batch ?? BATCH;
    this.lingerMs = flags.linger ?? LINGER_MS;
    this.#terminal = terminal;
    this.#command = flags.exec ?? '';
    this.#lines = lines;
    this.#deadLetters = deadLetters;
    this.#limit = createNoticeLimit(clock.mono, repeated);
    this.#handoff = new Handoff({
      clock,
      random,
      deadLetter: (batch) => deadLetters.save(batch),
      run: (batch, attempt) => this.#run(batch, attempt),
      notify: (notice) => this.#report(notice),
      tries: flags.tries === 0 ? Number.POSITIVE_INFINITY : (flags.tries ?? TRIES),
      forgetful: !remembered,
    });
    terminal.signal.addEventListener('abort', this.#reportWait, { once: true });
  }

  /** Formats a row as a line of NDJSON, like the lines that a tail without --exec prints. */
  encode({ raw, record }: TailRow): Uint8Array {
    const { printer, text } = this.#lines;
    if (raw !== null && printer.writeRaw) printer.writeRaw(raw);
    else printer.write(record);
    return text.take();
  }

  deliver(batch: Batch, stop: AbortSignal): Promise<Delivery> {
    return this.#handoff.deliver(batch, stop);
  }

  /** The state for monitoring. `queued` are the rows that are not in a batch yet. */
  health(queued: readonly HandoffRow[]): HandoffHealth {
    return this.#handoff.health(queued);
  }

  /** Throws if this run has dead letters. */
  check(): void {
    this.#deadLetters.check(this.health([]).deadRows);
  }

  /** Ends the handoff: reports suppressed notices, and lets the process shut down. */
  release(): void {
    this.#terminal.signal.removeEventListener('abort', this.#reportWait);
    for (const text of this.#limit.rest()) this.#terminal.notice(text);
    this.#letGo?.();
  }

  async #run(batch: Batch, attempt: number): Promise<CommandEnd> {
    const { io } = this.#terminal;
    // Delay a shutdown only after the first batch has started. A run that fails earlier must not
    // wait.
    this.#letGo ??= io.inFlight.hold();
    this.#running = batch;
    try {
      return await runCommand(this.#command, io, batch, attempt);
    } finally {
      this.#running = undefined;
    }
  }

  #report(notice: HandoffNotice): void {
    const text = handoffText(notice, this.#deadLetters.path ?? '');
    const shown = this.#limit.show(notice.kind, text);
    if (shown !== undefined) this.#terminal.notice(shown);
  }

  readonly #reportWait = (): void => {
    if (!this.#running) return;
    const { number } = this.#running;
    this.#terminal.notice(
      `waiting for the command (batch ${number}); a second signal kills the command`,
    );
  };
}

/** Opens the output of a run that hands rows to a command. */
export async function openHandoff(
  context: Context,
  handing: HandoffPlan,
): Promise<RunWriter<CommandWriter>> {
  const { io, signal, notice } = context.terminal;
  const { checkpoint } = handing;
  const courier = await openCourier(context, handing);
  const writer = new CommandWriter({
    clock: io.clock,
    encode: (row) => courier.encode(row),
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
    check: () => courier.check(),
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
