import type { Client, Ledger, Notice, RateWindows } from '../contract/ports.ts';
import { differenceText } from '../contract/read-record.ts';
import { createClient } from '../core/client/client.ts';
import { createTransport } from '../core/http/transport.ts';
import type { LaneName } from '../core/spend/lane.ts';
import { createSpendLimit } from '../core/spend/limit.ts';
import { type DifferenceLog, openDifferences } from '../state/answer-differences.ts';
import type { Budget } from '../state/ledger/budget.ts';
import { openLedger } from '../state/ledger/ledger.ts';
import { openWindows } from '../state/rate-windows.ts';
import { agentOf } from './agent.ts';
import type { Io } from './io.ts';
import type { RunSettings } from './settings/settings.ts';
import { watchCaps } from './spend/caps.ts';
import type { Permission } from './spend/permission.ts';
import type { RunStore } from './store/open-store.ts';
import { version } from './version.ts';

/** The base URL and key of a service. */
export interface Target {
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly embedded: boolean;
}

/** The facts about the run that a connection needs. */
export interface Connecting {
  readonly io: Io;
  readonly command: string;
  readonly settings: RunSettings;
  /** What the run may spend. */
  readonly permission: Pick<Permission, 'limit' | 'agreed' | 'raise' | 'stopped'>;
  readonly notify: (notice: Notice) => void;
  readonly notice: (line: string) => void;
  /** The store that all machines of the key share, if one is configured. */
  readonly store?: RunStore | undefined;
  /** The ledger in which calls are recorded; by default, the ledger of this machine. */
  readonly ledger?: Ledger | undefined;
}

/**
 * Creates a client with the rate limits and the ledger of this machine or of the store, and with the
 * spending limit, retries and timeout of the run.
 */
export async function connect(
  { baseUrl, key, embedded }: Target,
  { io, command, settings, permission, notify, notice, store, ledger }: Connecting,
): Promise<Client> {
  const dir = settings.folders.state;
  const local = openWindows({
    // Do not share the rate limits of the embedded service, which belongs to this process.
    dir: embedded ? undefined : dir,
    baseUrl,
    key: key ?? '',
    now: io.clock.now,
    sleep: io.clock.sleep,
    // The service counts resolves per IP address, not per key, so all keys share this limit.
    shared: ['resolve' satisfies LaneName],
    notice: notice,
  });
  const differences = openDifferenceLog({ baseUrl, embedded }, settings, io);
  return createClient({
    transport: createTransport({ env: io.env }),
    baseUrl,
    key,
    clock: io.clock,
    random: io.random,
    windows: store === undefined ? local : await sharedWindows(store, local, io, notice),
    inFlight: io.inFlight,
    limit: createSpendLimit({
      get maxCu() {
        return permission.limit;
      },
      get agreed() {
        return permission.agreed;
      },
      hint: settings.maxCu === undefined ? 'to spend more, pass --yes or --max-cu N' : undefined,
      raise: permission.raise,
      stopped: permission.stopped,
    }),
    ledger: ledger ?? ledgerOf(io, settings, command, notice),
    retries: settings.retries,
    timeoutMs: settings.timeout,
    notify(event) {
      if (event.kind === 'difference') differences.note(event.call, differenceText(event.difference));
      notify(event);
    },
    userAgent: `trdr/${version}`,
    insecureHttp: settings.insecureHttp,
  });
}

/**
 * Opens the list of differences between answers and the service description. All embedded services share one
 * list, whatever their port.
 */
export const openDifferenceLog = (
  { baseUrl, embedded }: Pick<Target, 'baseUrl' | 'embedded'>,
  { folders }: Pick<RunSettings, 'folders'>,
  { clock }: Pick<Io, 'clock'>,
): DifferenceLog =>
  openDifferences({ dir: folders.state, baseUrl: embedded ? 'sandbox:' : baseUrl, now: clock.now });

async function sharedWindows(
  { link, machine, memory }: RunStore,
  local: RateWindows,
  { clock }: Io,
  notice: (line: string) => void,
): Promise<RateWindows> {
  const { createStoreWindows } = await import('../store/windows.ts');
  return createStoreWindows({ link, local, machine, clock, memory, notice });
}

/** The ledger of a run, on this machine. */
export const ledgerOf = (
  { clock, env }: Pick<Io, 'clock' | 'env'>,
  {
    folders,
    profile,
    machine,
    budgetDay,
    budgetMonth,
  }: Pick<RunSettings, 'folders' | 'profile' | 'machine' | 'budgetDay' | 'budgetMonth'>,
  command: string,
  notice: (line: string) => void,
  hasBudgets = false,
): Ledger => {
  let budget: Promise<Budget> | undefined;
  return openLedger({
    dir: folders.state,
    command,
    profile,
    host: machine,
    agent: agentOf(env),
    now: clock.now,
    notice,
    caps: hasBudgets ? watchCaps({ folders, profile, budgetDay, budgetMonth }, notice) : undefined,
    budget() {
      budget ??= import('../state/ledger/budget.ts').then(({ createBudget }) =>
        createBudget({ dir: folders.state, profile, clock, notice }),
      );
      return budget;
    },
  });
};
