import { join } from 'node:path';
import { Failure } from '../base/failure.ts';
import { withoutKey, withoutKeys } from '../core/client/mask-key.ts';
import type { DiskWait } from '../output/disk-wait.ts';
import { createNotices, type LogForm } from '../output/notices.ts';
import { once } from '../output/sink.ts';
import { wantsUnicode } from '../output/terminal/style.ts';
import type { Parsed } from './args/parse.ts';
import type { AnyCommand } from './command.ts';
import { createConnections } from './connections.ts';
import type { Context } from './context.ts';
import type { Io } from './io.ts';
import { formatOf } from './output/output.ts';
import { createRunOutput } from './output/run-output.ts';
import { createScreen } from './output/screen.ts';
import { loadSettings } from './settings/settings.ts';
import { lookAtAccount } from './spend/balance.ts';
import { createPermission } from './spend/permission.ts';

/** Creates the context of a command. The settings are loaded at once, everything else on first use. */
export async function createContext(
  io: Io,
  command: AnyCommand,
  { globals, given }: Parsed,
): Promise<Context> {
  const loaded = loadSettings(io, globals, command.settings);
  // The embedded service has its own ledger and cache, because its CU are not real money.
  const settings = globals.sandbox
    ? { ...loaded, profile: 'sandbox', folders: sandboxFolders(loaded.folders) }
    : loaded;
  // With --dry-run, ignore --out, --fields and --bom: they apply to the records of a real run.
  const shown = globals.dryRun ? { ...globals, out: undefined, fields: undefined, bom: false } : globals;
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
  const screen = createScreen((text) => write(withoutKeys(withoutKey(text, settings.key))));
  const { notice } = screen;
  const diskWait =
    'status' in command.options
      ? (await import('../output/disk-wait.ts')).createDiskWait({ clock: io.clock, signal, notice })
      : noWait;

  const permission = createPermission({
    io,
    signal,
    confirmAbove: settings.confirmAbove,
    maxCu: settings.maxCu,
    yes: globals.yes,
    sandbox: globals.sandbox,
    spent: () => connections.opened?.spent.atMost ?? 0,
    left: async () => lookAtAccount(await client(), signal),
    async budgets() {
      const { shortBudgets } = await import('./spend/budgets.ts');
      return shortBudgets(context);
    },
    asking: screen.asking,
  });

  const connections = createConnections({
    io,
    command,
    globals,
    settings,
    permission,
    notice,
    trace: globals.debug ? (line) => write(line, 'debug') : undefined,
    closing: closing.signal,
  });
  const { target, client, connect, ledger, store } = connections;
  const printing = createRunOutput({
    io,
    command,
    globals: shown,
    settings,
    format,
    notice,
    diskWait,
    closing,
    client: () => connections.opened,
  });
  const { output, records, emit, print, printOne, printText, answersAreCached, setOutcome, costLine } =
    printing;

  const context: Context = {
    io,
    command: command.path,
    globals,
    settings,
    format,
    signal,
    scope: scopeOf(globals.sandbox, settings),
    notice,
    diskWait,
    target,
    client,
    connect,
    ledger,
    store,
    output,
    records,
    emit,
    print,
    printOne,
    printText,
    answersAreCached,
    setOutcome,
    async askWhatIsLeft() {
      const { opened } = connections;
      if (!opened || opened.spent.atMost === 0 || globals.sandbox) return;
      // Without a cost line and a receipt, the amount would not be shown anywhere.
      if (globals.receipt === undefined && (globals.quiet || costLine() === undefined)) return;
      // A run that stopped because a write failed may still send this call, so do not use its aborted signal.
      const until = closing.signal.reason instanceof Failure ? io.signal : signal;
      await lookAtAccount(opened, until, { timeoutMs: LAST_LOOK_MS }).catch(() => {});
    },
    costLine,
    receipt() {
      const units = globals.sandbox ? undefined : connections.opened?.left.key?.units;
      const { found, missing, failed } = printing.outcome ?? {};
      const left = units ?? undefined;
      return { command: command.path, ...connections.recorded(), found, missing, failed, left };
    },
    get lostPaidRows() {
      return printing.lostPaidRows;
    },
    get spent() {
      return connections.opened?.spent.cu ?? 0;
    },
    get pace() {
      const { opened } = connections;
      return { perMinute: opened?.ratePerMinute ?? null, calls: opened?.spent.calls ?? 0 };
    },
    async dryRun(planned) {
      if (!globals.dryRun) return false;
      const { plannedCalls, printPlan } = await import('./spend/plan.ts');
      await printPlan(context, plannedCalls(planned));
      return true;
    },
    permission,
    display: screen.display,
    saveWritten: printing.saveWritten,
    async close() {
      await printing.close();
      await connections.close();
    },
  };
  return context;
}

/** A full disk fails runs that cannot be services. */
const noWait: DiskWait = {
  failure: undefined,
  wait: () => undefined,
  retry: (_, step) => once(step),
  close() {},
};

/** How long a finished run waits for the amount that the key has left. */
const LAST_LOOK_MS = 1_500;

/** How notices are laid out on a terminal. The module is loaded only there, because it takes milliseconds. */
async function layoutFor({ stderr, env }: Io, { utc }: Context['settings']) {
  if (stderr.isTTY !== true) return undefined;
  const { proseLines } = await import('../output/terminal/prose.ts');
  return (label: string, text: string) =>
    proseLines(label, text, { columns: stderr.columns || 80, utc, timeZone: env['TZ'] || undefined });
}

/** The format of lines on stderr. Commands with --log-format print the time, unless stderr is a terminal. */
const logForm = (format: unknown, isTerminal: boolean): LogForm => {
  if (format === 'json') return 'json';
  return format === undefined || isTerminal ? 'plain' : 'stamped';
};

/**
 * The base URL and key that cached answers belong to. They are fixed for the sandbox, because its answers are
 * the same on every port.
 */
function scopeOf(sandbox: boolean, { baseUrl, key }: Context['settings']): Context['scope'] {
  if (sandbox) return { baseUrl: 'sandbox:', key: 'sandbox' };
  return baseUrl === undefined || key === undefined ? undefined : { baseUrl, key };
}

const sandboxFolders = (folders: Context['settings']['folders']) => ({
  config: folders.config,
  state: folders.state && join(folders.state, 'sandbox'),
  cache: folders.cache && join(folders.cache, 'sandbox'),
});
