import { join } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { statsOf } from '../../base/files.ts';
import { countText, unitsText } from '../../base/units.ts';
import {
  amountText,
  type BudgetSetting,
  budgetSettingNames,
  budgetSettings,
  periodText,
} from '../../contract/budget.ts';
import { LONGEST_RESPONSE } from '../../contract/limits.ts';
import type { Client, Notice } from '../../contract/ports/client.ts';
import type { Ledger } from '../../contract/ports/ledger.ts';
import type { RateWindows } from '../../contract/ports/rate-windows.ts';
import { differenceText } from '../../contract/read-record.ts';
import { createClient } from '../../core/client/client.ts';
import { ServiceKey } from '../../core/client/service-key.ts';
import { createTransport } from '../../core/http/transport.ts';
import { noticeText } from '../../output/client-notice-text.ts';
import { createNoticeLimit } from '../../output/notice-limit.ts';
import { outputClosed } from '../../output/sink.ts';
import { FileCache } from '../../state/cache.ts';
import { readConfig } from '../../state/config/config.ts';
import { profileOf } from '../../state/config/profile.ts';
import { readSetting } from '../../state/config/settings-table.ts';
import type { Caps } from '../../state/ledger/budget.ts';
import { openLedger } from '../../state/ledger/ledger.ts';
import { PeopleBook } from '../../state/people/book.ts';
import { FileWindows } from '../../state/rate-windows.ts';
import { type DifferenceLog, openDifferences } from '../../state/seen-differences.ts';
import { agentOf } from '../agent.ts';
import type { Io } from '../io.ts';
import type { RunSettings, Settings } from '../settings/settings.ts';
import { version } from '../version.ts';
import type { Bill } from './bill.ts';
import type { RunStore } from './open-store.ts';
import type { SpendingPermission } from './spending-permission.ts';
import type { Terminal } from './terminal.ts';

const FIRST_NOTICES = 20;
/** A long run may repeat these without end. */
const repeatedNotices: ReadonlySet<Notice['kind']> = new Set<Notice['kind']>([
  'wait',
  'retry',
  'lost',
]);
/**
 * No call with the default timeout takes longer, and the reservation of a minute of a WebSocket is
 * not needed for longer.
 */
const LEAST_TTL_MS = 5 * 60_000;

/** A base URL and the key for it. */
export interface Target {
  readonly baseUrl: string;
  readonly key: ServiceKey;
  /** Whether it is the embedded sandbox, which ends with the run. */
  readonly embedded: boolean;
}

/** What the parts of the service of a run are opened with. */
export interface RunParts {
  readonly terminal: Terminal;
  readonly settings: Settings;
  readonly bill: Bill;
  readonly permission: SpendingPermission;
  /** Whether the command prints records until it is stopped. */
  readonly isStream: boolean;
  /** Aborted when the output can no longer be written. */
  readonly closing: AbortSignal;
  /** Called at the end of the run, last first. */
  readonly closers: (() => unknown)[];
  /** The parts that others need, each opened once. */
  readonly target: () => Promise<Target>;
  readonly store: () => Promise<RunStore | undefined>;
  readonly client: () => Promise<Client>;
}

/** A client for another service or key. The budgets do not apply to its calls, which are free. */
export const connectTo = (run: RunParts, to: Target): Promise<Client> =>
  openClient(run, to, undefined, localLedger(run, false));

/** The configured service, or the embedded one, which is started now. */
export async function openTarget(run: RunParts): Promise<Target> {
  const { terminal, settings, isStream } = run;
  if (settings.flags.sandbox) {
    const { startEmbedded } = await import('./embedded.ts');
    const embedded = await startEmbedded(isStream);
    run.closers.push(embedded.close);
    return { baseUrl: embedded.url, key: new ServiceKey(embedded.key), embedded: true };
  }
  const { baseUrl, keptFor, openFile, profile } = settings;
  if (baseUrl === undefined) {
    throw new Failure('auth', 'no base URL configured', {
      code: 'NO_BASE_URL',
      hint: 'run "trdr auth login --base-url URL", set TRDR_BASE_URL, or try --sandbox',
    });
  }
  const key = await settings.key.get();
  if (key === undefined) {
    throw new Failure('auth', `no key configured for profile "${profile}"`, {
      code: 'NO_KEY',
      hint: 'run "trdr auth login", set TRDR_API_KEY, or try --sandbox',
    });
  }
  if (keptFor !== undefined)
    terminal.notice(`warning: sending the key saved for ${keptFor} to ${baseUrl}`);
  if (openFile !== undefined)
    terminal.notice(
      `warning: other users can read the key in ${openFile}; run chmod 600 '${openFile}'`,
    );
  return { baseUrl, key: renewable(run, baseUrl, key), embedded: false };
}

/** The key, which a command that prints it can replace while the run continues. */
function renewable(run: RunParts, baseUrl: string, key: string): ServiceKey {
  const { notice, waits } = run.terminal;
  const secret = run.settings.key;
  const { command, print } = secret;
  if (!print) return new ServiceKey(key);
  return new ServiceKey(key, {
    // The command may ask for a passphrase.
    print: () => waits.aside(print),
    handOver: async (rejected, next) => {
      await (await run.store())?.rebind(next);
      secret.replace?.(next);
      await inherit(run, baseUrl, rejected, next);
      notice(`the service rejected the key; the run continues with another one from ${command}`);
    },
    onFailed(error) {
      if (!(error instanceof Failure)) throw error;
      notice(`warning: the run does not continue with another key: ${error.message}`);
    },
  });
}

/** The answers that were paid for with a key stay known when another one replaces it. */
async function inherit(
  run: RunParts,
  baseUrl: string,
  rejected: string,
  key: string,
): Promise<void> {
  const { terminal, settings } = run;
  const { notice, io } = terminal;
  const { cache, state } = settings.folders;
  const now = io.clock.now;
  await new FileCache({ dir: cache, baseUrl, key, now, notice }).inherit(rejected);
  await new PeopleBook({ dir: state, baseUrl, key, notice }).inherit(rejected);
}

/**
 * The store that all machines of the key share; undefined if none is configured, or with
 * --sandbox.
 */
export async function openShared(run: RunParts): Promise<RunStore | undefined> {
  const { terminal, settings } = run;
  const { store, flags } = settings;
  if (flags.sandbox || store === undefined || store === 'off') return undefined;
  const { openStore } = await import('./open-store.ts');
  const { baseUrl, key } = await run.target();
  const scope = { baseUrl, key: key.current };
  const opened = await openStore(scope, terminal.io, settings, terminal.trace);
  run.closers.push(() => opened.link.close());
  return opened;
}

function localLedger(run: RunParts, hasBudgets: boolean): Ledger {
  const { terminal, settings } = run;
  const { io, notice } = terminal;
  const named = {
    command: settings.command,
    profile: settings.profile,
    host: settings.machine,
    agent: agentOf(io.env),
  };
  const caps = hasBudgets ? watchCaps(settings, notice) : undefined;
  const rules = { caps, mayLack: settings.flags.sandbox };
  return openLedger(settings.folders.state, named, io.clock, notice, rules);
}

export async function openRunLedger(run: RunParts): Promise<Ledger> {
  const { terminal, settings } = run;
  const local = localLedger(run, !settings.flags.sandbox);
  const shared = await run.store();
  if (shared === undefined) return local;
  const { StoreLedger } = await import('../../store/ledger.ts');
  return new StoreLedger(shared, local, {
    command: settings.command,
    clock: terminal.io.clock,
    stop: settings.storeAway === 'stop',
    ttlMs: Math.max(LEAST_TTL_MS, (LONGEST_RESPONSE + 1) * (settings.timeout ?? 0)),
    meter: async () => {
      const { known } = await (await run.client()).call('me', {});
      const { unitsUsed = 0, revealsUsed = 0, period = '' } = known.usage ?? {};
      return { unitsUsed, revealsUsed, period };
    },
  });
}

/**
 * The rate limits of a target. Those of the embedded service, which belongs to this process, are
 * not shared.
 */
async function windowsOf(
  run: RunParts,
  { baseUrl, key, embedded }: Target,
  shared: RunStore | undefined,
): Promise<RateWindows> {
  const { terminal, settings } = run;
  const { clock } = terminal.io;
  const local = new FileWindows({
    dir: embedded ? undefined : settings.folders.state,
    baseUrl,
    get key() {
      return key.current;
    },
    clock,
    notice: terminal.notice,
  });
  if (shared === undefined) return local;
  const { StoreWindows } = await import('../../store/windows.ts');
  return new StoreWindows(shared, local, clock, terminal.notice);
}

export async function openClient(
  run: RunParts,
  to: Target,
  shared: RunStore | undefined,
  ledger: Ledger,
): Promise<Client> {
  const { terminal, settings, bill } = run;
  const { io, waits } = terminal;
  const client = createClient({
    transport: createTransport(io.env),
    baseUrl: to.baseUrl,
    key: to.key,
    clock: io.clock,
    random: io.random,
    windows: await windowsOf(run, to, shared),
    inFlight: io.inFlight,
    limit: run.permission,
    ledger,
    trace: terminal.trace,
    retries: settings.retries,
    timeoutMs: settings.timeout,
    notify: noticesOf(run, to),
    onWait: (endpoint) => waits.begin(() => waitText(endpoint, bill)).end,
    userAgent: `trdr/${version}`,
    insecureHttp: settings.insecureHttp,
    keyHeader: settings.keyHeader,
  });
  run.closers.push(() => client.close());
  return client;
}

/**
 * What a client reports. Notices that repeat are shown at growing intervals, and the rest at the
 * end.
 */
function noticesOf(run: RunParts, to: Target): (event: Notice) => void {
  const { terminal, settings, closing } = run;
  const { io, notice } = terminal;
  const limit = createNoticeLimit(io.clock.mono, repeatedNotices, FIRST_NOTICES);
  run.closers.push(() => {
    for (const line of limit.rest()) notice(line);
  });
  return (event) => {
    if (event.kind === 'difference')
      openDifferenceLog(to, settings, io).note(event.call, differenceText(event.difference));
    // After the reader has closed the output, the ledger has the maximum cost.
    if (event.kind === 'lost' && closing.reason === outputClosed) return;
    const shown = limit.show(event.kind, noticeText(event));
    if (shown !== undefined) notice(shown);
  };
}

/** What a run waits for that shows no progress of its own. */
function waitText(endpoint: string, { pace, spent }: Bill): string {
  const calls = pace.calls > 1 ? `${countText(pace.calls, 'call')}, ` : '';
  const soFar = spent > 0 ? ` (${calls}${unitsText(spent)} so far)` : '';
  return `waiting for the service: ${endpoint}${soFar}`;
}

/** All embedded services share one list, whatever their port. */
export const openDifferenceLog = (
  { baseUrl, embedded }: Pick<Target, 'baseUrl' | 'embedded'>,
  { folders }: Pick<RunSettings, 'folders'>,
  { clock }: Pick<Io, 'clock'>,
): DifferenceLog => openDifferences(folders.state, embedded ? 'sandbox:' : baseUrl, clock.now);

/**
 * A running tail also obeys "trdr budget set". A deleted or damaged config file leaves the known
 * budgets in force.
 */
function watchCaps(
  settings: Pick<RunSettings, 'folders' | 'profile' | BudgetSetting>,
  notice: (text: string) => void,
): () => Caps | undefined {
  const { folders, profile, budgetDay, budgetMonth } = settings;
  const { budgetDayReveals, budgetMonthReveals } = settings;
  const path = folders.config && join(folders.config, 'config.json');
  const caps = { budgetDay, budgetMonth, budgetDayReveals, budgetMonthReveals };
  let reported = '';
  const hasBudget = () => budgetSettingNames.some((name) => caps[name] !== undefined);
  const look = () => {
    const stats = path === undefined ? undefined : statsOf(path);
    return stats && `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
  };

  const apply = () => {
    const saved = profileOf(readConfig(path), profile);
    if (saved === undefined)
      throw new Failure('local', `profile "${profile}" is no longer in ${path}`, {
        code: 'NO_PROFILE',
      });
    for (const name of budgetSettingNames) {
      const limit = saved[name] === undefined ? undefined : readSetting(name, saved[name], name);
      if (limit === caps[name]) continue;
      caps[name] = limit;
      const budget = budgetSettings[name];
      const change =
        limit === undefined ? 'was removed' : `is now ${amountText(budget.measure, limit)}`;
      notice(`the ${periodText(budget)} of profile "${profile}" ${change}`);
    }
  };

  let seen = look();
  return () => {
    try {
      const now = look();
      if (now !== seen) apply();
      seen = now;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (hasBudget() && error.message !== reported)
        notice(`${error.message}; the budgets that this run knows still apply`);
      reported = error.message;
    }
    return hasBudget() ? caps : undefined;
  };
}
