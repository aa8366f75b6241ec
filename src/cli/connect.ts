import { Failure } from '../base/failure.ts';
import { LONGEST_RESPONSE } from '../contract/limits.ts';
import type { Client, Ledger, Notice } from '../contract/ports.ts';
import { differenceText } from '../contract/read-record.ts';
import { createClient } from '../core/client/client.ts';
import { createTransport } from '../core/http/transport.ts';
import { outputClosed } from '../output/sink.ts';
import { type DifferenceLog, openDifferences } from '../state/answer-differences.ts';
import { openLedger } from '../state/ledger/ledger.ts';
import { openWindows } from '../state/rate-windows.ts';
import { agentOf } from './agent.ts';
import type { Globals } from './args/common.ts';
import type { AnyCommand } from './command.ts';
import type { Target } from './context.ts';
import type { Io } from './io.ts';
import { noticeText } from './output/client-notice-text.ts';
import { createNoticeLimit } from './output/notice-limit.ts';
import type { RunSettings } from './settings/settings.ts';
import { watchCaps } from './spend/caps.ts';
import type { Permission } from './spend/permission.ts';
import type { RunStore } from './store/open-store.ts';
import { version } from './version.ts';

export interface Connecting {
  readonly io: Io;
  readonly command: AnyCommand;
  readonly globals: Globals;
  readonly settings: RunSettings;
  readonly permission: Permission;
  readonly notice: (text: string) => void;
  /** Prints a line of --debug, even with --quiet; undefined without --debug. */
  readonly trace: ((line: string) => void) | undefined;
  /** Aborted when the run can no longer write its output. */
  readonly closing: AbortSignal;
  /** Called at the end of the run, last first. */
  readonly closers: (() => unknown)[];
}

export async function findTarget({
  globals,
  command,
  settings,
  notice,
  closers,
}: Connecting): Promise<Target> {
  if (globals.sandbox) {
    const { startEmbedded } = await import('./commands/sandbox.ts');
    const embedded = await startEmbedded(command.stream === true);
    closers.push(embedded.close);
    return { baseUrl: embedded.url, key: embedded.key, embedded: true };
  }
  const { baseUrl, profile, keptFor } = settings;
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
  if (keptFor !== undefined) notice(`warning: sending the key saved for ${keptFor} to ${baseUrl}`);
  return { baseUrl, key, embedded: false };
}

const FIRST_NOTICES = 20;
/** A long run may repeat these without end. */
const repeatedNotices: ReadonlySet<Notice['kind']> = new Set<Notice['kind']>(['wait', 'retry', 'lost']);

/** Without a ledger, the budgets do not apply to the calls of the client. */
export async function connect(
  run: Connecting,
  target: Target,
  store?: RunStore,
  ledger?: Ledger,
): Promise<Client> {
  const { io, settings, permission, notice, closers } = run;
  const { baseUrl, key, embedded } = target;
  // Do not share the rate limits of the embedded service, which belongs to this process.
  const folder = embedded ? undefined : settings.folders.state;
  const local = openWindows(folder, baseUrl, key ?? '', io.clock, notice);
  const differences = openDifferenceLog(target, settings, io);
  const limit = createNoticeLimit(io.clock.mono, repeatedNotices, FIRST_NOTICES);
  closers.push(() => {
    for (const line of limit.rest()) notice(line);
  });
  const client = createClient({
    transport: createTransport(io.env),
    baseUrl,
    key,
    clock: io.clock,
    random: io.random,
    windows:
      store === undefined
        ? local
        : (await import('../store/windows.ts')).createStoreWindows(store, local, io.clock, notice),
    inFlight: io.inFlight,
    limit: permission,
    ledger: ledger ?? localLedger(run, false),
    retries: settings.retries,
    timeoutMs: settings.timeout,
    notify(event) {
      if (event.kind === 'difference') differences.note(event.call, differenceText(event.difference));
      // After the reader has closed the output, the ledger has the maximum cost.
      if (event.kind === 'lost' && run.closing.reason === outputClosed) return;
      if (event.kind === 'trace') return run.trace?.(noticeText(event));
      const shown = limit.show(event.kind, noticeText(event));
      if (shown !== undefined) notice(shown);
    },
    userAgent: `trdr/${version}`,
    insecureHttp: settings.insecureHttp,
  });
  closers.push(client.close);
  return client;
}

/** All embedded services share one list, whatever their port. */
export const openDifferenceLog = (
  { baseUrl, embedded }: Pick<Target, 'baseUrl' | 'embedded'>,
  { folders }: Pick<RunSettings, 'folders'>,
  { clock }: Pick<Io, 'clock'>,
): DifferenceLog => openDifferences(folders.state, embedded ? 'sandbox:' : baseUrl, clock.now);

export async function openRunStore(
  run: Connecting,
  target: () => Promise<Target>,
): Promise<RunStore | undefined> {
  const { globals, settings, closers } = run;
  if (globals.sandbox || settings.store === undefined || settings.store === 'off') return undefined;
  const { openStore } = await import('./store/open-store.ts');
  const { baseUrl, key } = await target();
  const store = await openStore({ baseUrl, key: key ?? '' }, run);
  closers.push(() => store.link.close());
  return store;
}

export async function openRunLedger(
  run: Connecting,
  store: RunStore | undefined,
  client: () => Promise<Client>,
): Promise<Ledger> {
  const local = localLedger(run, !run.globals.sandbox);
  if (store === undefined) return local;
  const { createStoreLedger } = await import('../store/ledger.ts');
  const { settings } = run;
  return createStoreLedger(store, local, {
    command: run.command.path,
    clock: run.io.clock,
    stop: settings.storeAway === 'stop',
    ttlMs: Math.max(LEAST_TTL_MS, (LONGEST_RESPONSE + 1) * (settings.timeout ?? 0)),
    async meter() {
      const { known } = await (await client()).call('me', {});
      return { unitsUsed: known.usage?.unitsUsed ?? 0, period: known.usage?.period ?? '' };
    },
  });
}

/** No call with the default timeout takes longer, and the reservation of a minute of a WebSocket is not needed for longer. */
const LEAST_TTL_MS = 5 * 60_000;

interface LedgerNeeds {
  readonly io: Pick<Io, 'clock' | 'env'>;
  readonly settings: Pick<RunSettings, 'folders' | 'profile' | 'machine' | 'budgetDay' | 'budgetMonth'>;
  readonly command: Pick<AnyCommand, 'path'>;
  readonly notice: (text: string) => void;
}

export const localLedger = ({ io, settings, command, notice }: LedgerNeeds, hasBudgets: boolean): Ledger => {
  const { folders, profile } = settings;
  const named = { command: command.path, profile, host: settings.machine, agent: agentOf(io.env) };
  const caps = hasBudgets ? watchCaps(settings, notice) : undefined;
  return openLedger(folders.state, named, io.clock, notice, caps);
};
