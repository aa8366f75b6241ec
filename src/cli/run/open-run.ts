import { join } from 'node:path';
import { Failure, usageError } from '../../base/failure.ts';
import { type Instant, instantAt } from '../../base/times.ts';
import { lookAtAccount } from '../../core/ask-account.ts';
import { withoutKey, withoutKeys } from '../../core/client/mask-key.ts';
import type { DiskWait } from '../../output/disk-wait.ts';
import { createNotices, type LogForm } from '../../output/notices.ts';
import { outputClosed, tryOnce } from '../../output/sink.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import { wantsUnicode } from '../../output/terminal/style.ts';
import type { Options } from '../args/option.ts';
import type { Parsed } from '../args/parsed.ts';
import type { ExitCode } from '../exit.ts';
import { type Io, isInterrupted } from '../io.ts';
import {
  knownSecret,
  loadSettings,
  type RunSettings,
  type Settings,
  type SettingsUse,
} from '../settings/settings.ts';
import { Bill } from './bill.ts';
import { fieldsOfRun } from './brief-fields.ts';
import type { Context } from './context.ts';
import { formatOf } from './open-printer.ts';
import { Out } from './out.ts';
import { Service } from './service.ts';
import { Terminal } from './terminal.ts';
import { WaitLine } from './wait-line.ts';

/** What a run needs of its command. */
interface Runnable {
  readonly path: string;
  /** Whether it prints records until it is stopped. */
  readonly stream?: boolean;
  readonly options: Options;
  readonly settings?: SettingsUse;
  run(context: Context, input: never): Promise<ExitCode | undefined>;
}

/** Opens the run of a command. The settings are loaded at once, everything else on first use. */
export async function openRun(io: Io, command: Runnable, parsed: Parsed): Promise<CommandRun> {
  const bill = new Bill(command.path, parsed.globals.sandbox);
  const { receipt } = parsed.globals;
  const clearReceipt =
    receipt === undefined
      ? undefined
      : (await import('./receipt.ts')).openReceipt(io, receipt, () => bill.receipt());
  const settings = settingsOf(io, command, parsed);
  const closing = new AbortController();
  const terminal = await openTerminal(io, settings, closing.signal, {
    logFormat: parsed.flags['logFormat'],
    isStream: command.stream === true,
  });
  const diskWait =
    'status' in command.options
      ? new (await import('../../output/disk-wait.ts')).FullDiskWait(
          io.clock,
          terminal.signal,
          terminal.notice,
        )
      : noWait;
  const isStream = command.stream === true;
  const printed = { ...settings, flags: shownFlags(settings.flags) };
  const out = new Out({ terminal, settings: printed, diskWait, isStream, closing });
  const service = new Service({ terminal, settings, bill, isStream, closing: closing.signal });
  const context: Context = { terminal, settings, service, out, bill };
  prepareShutdown(terminal, out);
  checkSince(context, parsed.flags['since'] as Instant | undefined);
  return new CommandRun(command, context, closing.signal, clearReceipt);
}

/** The clock of a machine can be hours behind, so a time that is ahead of it may have passed. */
const MOST_OFF_MS = 86_400_000;

/** Nothing is from a time to come: without a word, no rows would look like an answer. */
function checkSince({ terminal, settings }: Context, since: Instant | undefined): void {
  if (since === undefined) return;
  const now = terminal.io.clock.now();
  const aheadMs = instantAt(since, now, settings.utc) - now;
  if (aheadMs > MOST_OFF_MS)
    throw usageError('--since must be in the past', 'pass an earlier time, such as --since 1d');
  if (aheadMs > 0)
    terminal.notice('the time of --since is yet to come, by the clock of this machine');
}

/** A command that runs, from its first call to the line that says what it has cost. */
export class CommandRun {
  readonly settings: Settings;
  readonly #command: Runnable;
  readonly #context: Context;
  readonly #closing: AbortSignal;
  readonly #clearReceipt: (() => void) | undefined;

  constructor(
    command: Runnable,
    context: Context,
    closing: AbortSignal,
    clearReceipt: (() => void) | undefined,
  ) {
    this.settings = context.settings;
    this.#command = command;
    this.#context = context;
    this.#closing = closing;
    this.#clearReceipt = clearReceipt;
  }

  /** Runs the command, ends its output, closes its connections, and reports its cost. */
  async run(input: unknown): Promise<ExitCode> {
    const { terminal, service, out, bill } = this.#context;
    let code: ExitCode = 0;
    try {
      this.#clearReceipt?.();
      code = (await this.#command.run(this.#context, input as never)) ?? 0;
      await this.#askWhatIsLeft();
    } catch (error) {
      // If a reader such as `head` closes the output, it has read all it needs, so this is a normal
      // end.
      if (error !== outputClosed) throw await this.#failed(error);
    } finally {
      await out.close();
      await service.close();
      terminal.waits.close();
      const line = this.#isWatched ? bill.line(isInterrupted(terminal.io)) : undefined;
      if (line !== undefined) terminal.notice(line);
    }
    return code;
  }

  get #isWatched(): boolean {
    const { io } = this.#context.terminal;
    return io.stderr.isTTY === true || isInterrupted(io);
  }

  /**
   * Requests the free `me`, if the run has paid and what is left will be shown. A slow answer is
   * omitted.
   */
  async #askWhatIsLeft(): Promise<void> {
    const { terminal, settings, bill } = this.#context;
    if (!bill.client || !bill.isPaid || bill.isSandbox) return;
    const isShown =
      this.#isWatched &&
      !settings.flags.quiet &&
      bill.line(isInterrupted(terminal.io)) !== undefined;
    if (!isShown && settings.flags.receipt === undefined) return;
    // A run that stopped because a write failed may still send this call, so do not use its aborted
    // signal.
    const until = this.#closing.reason instanceof Failure ? terminal.io.signal : terminal.signal;
    await lookAtAccount(bill.client, until, { timeoutMs: LAST_LOOK_MS }).catch(() => {});
  }

  /**
   * Keeps the rows that were paid for after an error, and names them in the error or in a notice.
   */
  async #failed(error: unknown): Promise<unknown> {
    const { terminal, out, bill } = this.#context;
    if (mayAskService(error)) await this.#askWhatIsLeft();
    const isStopped = isInterrupted(terminal.io);
    // The exit code is that of the signal, so nothing else reports what could not be written.
    if (isStopped && error instanceof Failure && error.kind === 'local')
      terminal.notice(`warning: ${error.message}`);
    const where = await out.keep(bill.isPaid);
    if (error instanceof Failure && !isStopped) {
      if (where === undefined) return error;
      return new Failure(error.kind, `${error.message}; ${where}`, error);
    }
    if (where !== undefined) terminal.notice(where);
    return error;
  }
}

function settingsOf(io: Io, command: Runnable, { globals, flags: ownFlags }: Parsed): Settings {
  const flags = { ...globals, fields: fieldsOfRun(command.path, globals.fields, ownFlags) };
  const loaded = loadSettings(io, flags, command.settings);
  const settings = flags.sandbox ? sandboxSettings(loaded) : loaded;
  const format = formatOf(shownFlags(flags), settings.output, io.stdout.isTTY === true, command);
  return { ...settings, command: command.path, flags, format };
}

/**
 * The flags of the output. A dry run ignores --out, --fields and --bom: they apply to the records
 * of a real run.
 */
const shownFlags = (flags: Settings['flags']): Settings['flags'] =>
  flags.dryRun ? { ...flags, out: undefined, fields: undefined, bom: false } : flags;

/** The embedded service has its own ledger and cache, because its CU are not real money. */
function sandboxSettings(loaded: RunSettings): RunSettings {
  const { config, state, cache } = loaded.folders;
  return {
    ...loaded,
    profile: 'sandbox',
    key: knownSecret(loaded.key.present),
    folders: {
      config,
      state: state && join(state, 'sandbox'),
      cache: cache && join(cache, 'sandbox'),
    },
  };
}

async function openTerminal(
  io: Io,
  settings: Settings,
  closing: AbortSignal,
  { logFormat, isStream }: { readonly logFormat: unknown; readonly isStream: boolean },
): Promise<Terminal> {
  const { flags } = settings;
  const write = createNotices({
    stream: () => io.stderr,
    quiet: flags.quiet,
    unicode: wantsUnicode(io.env, io.platform),
    form: logForm(logFormat, io.stderr.isTTY === true),
    journal: io.isJournal,
    now: io.clock.now,
    layout: await layoutFor(io, settings),
  });
  const masked = (text: string) => write(withoutKeys(withoutKey(text, settings.key.present)));
  const trace = flags.debug ? (line: string) => write(safeLine(line), 'debug') : undefined;
  // A run that follows a feed has a status line of its own.
  const waits = new WaitLine(io, !flags.quiet && !isStream);
  return new Terminal(io, AbortSignal.any([io.signal, closing]), masked, trace, waits);
}

/**
 * Delivers the rows received so far at the first signal, and reports the calls that the shutdown
 * waits for.
 */
function prepareShutdown({ io, notice }: Terminal, out: Out): void {
  const begin = () => {
    if (!isInterrupted(io)) return;
    out.flushAll();
    const { count } = io.inFlight;
    if (count === 0) return;
    const isOne = count === 1;
    const calls = isOne ? 'a paid call' : `${count} paid calls`;
    const answers = isOne ? 'its answer' : 'their answers';
    const seconds = Math.max(1, Math.ceil(io.inFlight.leftMs() / 1000));
    notice(
      `stopping: waiting up to ${seconds}s for ${calls} in flight; a second signal exits at once and loses ${answers}`,
    );
  };
  io.signal.addEventListener('abort', begin, { once: true });
}

/** A full disk fails runs that cannot be services. */
const noWait: DiskWait = {
  failure: undefined,
  wait: () => undefined,
  retry: (_, step) => tryOnce(step),
  close() {},
};

/** How long a finished run waits for the amount that the key has left. */
const LAST_LOOK_MS = 1_500;

/** Whether the service can be expected to answer after this error. */
const mayAskService = (error: unknown) =>
  error instanceof Failure &&
  !['network', 'service', 'rate', 'auth', 'forbidden'].includes(error.kind);

/**
 * How notices are laid out on a terminal. The module is loaded only there, because it takes
 * milliseconds.
 */
async function layoutFor({ stderr }: Io, { utc }: Settings) {
  if (stderr.isTTY !== true) return undefined;
  const { proseLines } = await import('../../output/terminal/prose.ts');
  return (label: string, text: string) =>
    proseLines(label, text, { columns: stderr.columns || 80, utc });
}

/**
 * The format of lines on stderr. Commands with --log-format print the time, unless stderr is a
 * terminal.
 */
const logForm = (format: unknown, isTerminal: boolean): LogForm => {
  if (format === 'json') return 'json';
  return format === undefined || isTerminal ? 'plain' : 'stamped';
};
