import { join } from 'node:path';
import { once } from '../base/calls.ts';
import { Failure } from '../base/failure.ts';
import { unitsText } from '../base/units.ts';
import type { Client } from '../contract/ports/client.ts';
import { withoutKey, withoutKeys } from '../core/client/mask-key.ts';
import type { DiskWait } from '../output/disk-wait.ts';
import { createNotices, type LogForm } from '../output/notices.ts';
import { outputClosed, tryOnce } from '../output/sink.ts';
import { wantsUnicode } from '../output/terminal/style.ts';
import type { Parsed } from './args/parse.ts';
import type { AnyCommand } from './command.ts';
import type { Context, RunOutcome } from './context.ts';
import type { ExitCode } from './exit.ts';
import { type Io, isInterrupted } from './io.ts';
import { lookAtAccount } from './lookup/account.ts';
import { fieldsOfRun } from './output/brief-fields.ts';
import { formatOf, selectedFields } from './output/output.ts';
import { createRunOutput } from './output/run-output.ts';
import { knownSecret, loadSettings } from './settings/settings.ts';
import { Permission } from './spend/permission.ts';

/** Creates the context of a command. The settings are loaded at once, everything else on first use. */
export async function createContext(
  io: Io,
  command: AnyCommand,
  { globals: parsed, given }: Parsed,
) {
  let opened: Client | undefined;
  let outcome = (): RunOutcome | undefined => undefined;
  const receipt = () => {
    const { cu = 0, atMost = 0, inFlight = 0, calls = 0 } = opened?.spent ?? {};
    const units = parsed.sandbox ? undefined : opened?.left.key?.units;
    const { found, missing, failed } = outcome() ?? {};
    const cuAtMost = atMost + inFlight;
    return {
      command: command.path,
      calls,
      cu,
      cuAtMost,
      found,
      missing,
      failed,
      left: units ?? undefined,
    };
  };
  const prepareReceipt =
    parsed.receipt === undefined
      ? undefined
      : (await import('./receipt.ts')).openReceipt(io, parsed.receipt, receipt);
  const globals = { ...parsed, fields: fieldsOfRun(command.path, parsed.fields, given) };
  const loaded = loadSettings(io, globals, command.settings);
  // The embedded service has its own ledger and cache, because its CU are not real money.
  const settings = globals.sandbox
    ? {
        ...loaded,
        profile: 'sandbox',
        key: knownSecret(loaded.key.known),
        folders: sandboxFolders(loaded.folders),
      }
    : loaded;
  // With --dry-run, ignore --out, --fields and --bom: they apply to the records of a real run.
  const shown = globals.dryRun
    ? { ...globals, out: undefined, fields: undefined, bom: false }
    : globals;
  const format = formatOf(shown, settings.output, io.stdout.isTTY === true, command);
  const closing = new AbortController();
  const signal = AbortSignal.any([io.signal, closing.signal]);

  const write = createNotices({
    stream: () => io.stderr,
    quiet: globals.quiet,
    unicode: wantsUnicode(io.env, io.platform),
    form: logForm(given['logFormat'], io.stderr.isTTY === true),
    journal: io.isJournal,
    now: io.clock.now,
    layout: await layoutFor(io, settings),
  });
  const { notice, display, asking } = createScreen((text) =>
    write(withoutKeys(withoutKey(text, settings.key.known))),
  );
  const diskWait =
    'status' in command.options
      ? (await import('../output/disk-wait.ts')).createDiskWait(io.clock, signal, notice)
      : noWait;

  const permission = new Permission({
    io,
    signal,
    confirmAbove: settings.confirmAbove,
    maxCu: settings.maxCu,
    yes: globals.yes,
    sandbox: globals.sandbox,
    spent: () => opened?.spent.atMost ?? 0,
    left: async () => lookAtAccount(await context.client(), signal),
    async budgets() {
      const { shortBudgets } = await import('./spend/budgets.ts');
      return shortBudgets(context);
    },
    asking,
  });

  const closers: (() => unknown)[] = [];
  const trace = globals.debug ? (line: string) => write(line, 'debug') : undefined;
  const connections = once(async () =>
    (await import('./connect.ts')).openConnections(
      context,
      command.stream === true,
      closing.signal,
      closers,
      trace,
    ),
  );

  const needs = { io, globals: shown, settings, format, notice, diskWait };
  const printing = createRunOutput(needs, command, closing, () => opened);
  outcome = printing.outcome;
  const context: Context = {
    ...printing,
    io,
    command: command.path,
    globals,
    settings,
    format,
    signal,
    scope: scopeOf(globals.sandbox, settings),
    notice,
    display,
    diskWait,
    permission,
    target: async () => (await connections()).target(),
    async client() {
      opened = await (await connections()).client();
      return opened;
    },
    ledger: async () => (await connections()).ledger(),
    store: async () => (await connections()).store(),
    connect: async (other) => (await connections()).connect(other),
    get spent() {
      return opened?.spent.cu ?? 0;
    },
    get pace() {
      return { perMinute: opened?.ratePerMinute ?? null, calls: opened?.spent.calls ?? 0 };
    },
    async dryRun(planned, view) {
      if (!globals.dryRun) {
        if (view) await selectedFields(globals.fields, view);
        return false;
      }
      await (await import('./spend/plan.ts')).printDryRun(context, planned);
      return true;
    },
  };

  const isWatched = () => io.stderr.isTTY === true || isInterrupted(io);
  /** Requests the free `me`, if the run has paid and what is left will be shown. A slow answer is omitted. */
  async function askWhatIsLeft() {
    if (!opened || opened.spent.atMost === 0 || globals.sandbox) return;
    const isShown = isWatched() && !globals.quiet && printing.costLine() !== undefined;
    if (!isShown && globals.receipt === undefined) return;
    // A run that stopped because a write failed may still send this call, so do not use its aborted signal.
    const until = closing.signal.reason instanceof Failure ? io.signal : signal;
    await lookAtAccount(opened, until, { timeoutMs: LAST_LOOK_MS }).catch(() => {});
  }

  /** Runs the command, ends its output, closes its connections, and reports its cost. */
  async function runCommand(input: unknown): Promise<ExitCode> {
    let code: ExitCode = 0;
    try {
      prepareReceipt?.();
      code = (await command.run(context, input as never)) ?? 0;
      await askWhatIsLeft();
    } catch (error) {
      // If a reader such as `head` closes the output, it has read all it needs, so this is a normal end.
      if (error !== outputClosed) {
        if (mayAskService(error)) await askWhatIsLeft();
        // The exit code is that of the signal, so nothing else reports what could not be written.
        if (isInterrupted(io) && error instanceof Failure && error.kind === 'local')
          notice(`warning: ${error.message}`);
        throw await printing.endEarly(error);
      }
    } finally {
      await printing.close();
      for (const close of closers.splice(0).reverse()) await close();
      const cost = printing.costLine();
      if (cost !== undefined && isWatched()) notice(cost);
    }
    if (printing.lostPaidRows()) throw rowsLost(context.spent);
    return code;
  }

  return { settings, runCommand };
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

const rowsLost = (spent: number) =>
  new Failure(
    'local',
    `the output was closed before all rows were read; this run cost ${unitsText(spent)}`,
    {
      code: 'OUTPUT_CLOSED',
      hint: 'write to a file with --out, or request only as many rows as you need',
    },
  );

/** The messages of a run on stderr. During a question, notices wait and the redrawn parts of the terminal are hidden. */
function createScreen(write: (text: string) => void) {
  const displays = new Set<Parameters<Context['display']>[0]>();
  const waiting: string[] = [];
  let isAsking = false;
  return {
    notice(text: string) {
      if (isAsking) waiting.push(text);
      else write(text);
    },
    display(shown: Parameters<Context['display']>[0]) {
      displays.add(shown);
      if (isAsking) shown.hide();
      return () => void displays.delete(shown);
    },
    async asking<T>(work: () => Promise<T>): Promise<T> {
      isAsking = true;
      for (const shown of displays) shown.hide();
      try {
        return await work();
      } finally {
        isAsking = false;
        for (const text of waiting.splice(0)) write(text);
        for (const shown of displays) shown.show();
      }
    },
  };
}

/** How notices are laid out on a terminal. The module is loaded only there, because it takes milliseconds. */
async function layoutFor({ stderr }: Io, { utc }: Context['settings']) {
  if (stderr.isTTY !== true) return undefined;
  const { proseLines } = await import('../output/terminal/prose.ts');
  return (label: string, text: string) =>
    proseLines(label, text, { columns: stderr.columns || 80, utc });
}

/** The format of lines on stderr. Commands with --log-format print the time, unless stderr is a terminal. */
const logForm = (format: unknown, isTerminal: boolean): LogForm => {
  if (format === 'json') return 'json';
  return format === undefined || isTerminal ? 'plain' : 'stamped';
};

/** The sandbox has a fixed scope, because its answers are the same on every port. */
function scopeOf(sandbox: boolean, { baseUrl, key }: Context['settings']): Context['scope'] {
  if (sandbox) return { baseUrl: 'sandbox:', key: async () => 'sandbox' };
  if (baseUrl === undefined || !key.isSet) return undefined;
  return { baseUrl, key: async () => (await key.get()) ?? '' };
}

const sandboxFolders = (folders: Context['settings']['folders']) => ({
  config: folders.config,
  state: folders.state && join(folders.state, 'sandbox'),
  cache: folders.cache && join(folders.cache, 'sandbox'),
});
