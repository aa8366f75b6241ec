import { join } from 'node:path';
import { once } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import { statsOf } from '../../base/files.ts';
import { unitsText } from '../../base/units.ts';
import { LONGEST_RESPONSE } from '../../contract/limits.ts';
import type { Client, Notice } from '../../contract/ports/client.ts';
import type { Ledger } from '../../contract/ports/ledger.ts';
import { differenceText } from '../../contract/read-record.ts';
import { createClient } from '../../core/client/client.ts';
import { ServiceKey } from '../../core/client/service-key.ts';
import { createTransport } from '../../core/http/transport.ts';
import { outputClosed } from '../../output/sink.ts';
import { readConfig } from '../../state/config/config.ts';
import { profileOf } from '../../state/config/profile.ts';
import { readSetting } from '../../state/config/settings-table.ts';
import type { Caps } from '../../state/ledger/budget.ts';
import { openLedger } from '../../state/ledger/ledger.ts';
import { openWindows } from '../../state/rate-windows.ts';
import { type DifferenceLog, openDifferences } from '../../state/seen-differences.ts';
import { agentOf } from '../agent.ts';
import type { Io } from '../io.ts';
import type { RunSettings } from '../settings/settings.ts';
import { version } from '../version.ts';
import { noticeText } from './client-notice-text.ts';
import { createNoticeLimit } from './notice-limit.ts';
import type { RunStore } from './open-store.ts';
import type { Permission } from './permission.ts';
import type { ServiceNeeds, Target } from './service.ts';

const FIRST_NOTICES = 20;
/** A long run may repeat these without end. */
const repeatedNotices: ReadonlySet<Notice['kind']> = new Set<Notice['kind']>([
  'wait',
  'retry',
  'lost',
]);
/** No call with the default timeout takes longer, and the reservation of a minute of a WebSocket is not needed for longer. */
const LEAST_TTL_MS = 5 * 60_000;

/** The parts of the service of a run. The run calls `closers` at its end, last first. */
export function openConnections(
  needs: ServiceNeeds,
  permission: Permission,
  closers: (() => unknown)[],
) {
  const { terminal, settings, isStream, closing } = needs;
  const { io, notice, trace } = terminal;
  const { folders, profile, flags } = settings;

  const target = once(async (): Promise<Target> => {
    if (flags.sandbox) {
      const { startEmbedded } = await import('./embedded.ts');
      const embedded = await startEmbedded(isStream);
      closers.push(embedded.close);
      return { baseUrl: embedded.url, key: embedded.key, embedded: true };
    }
    const { baseUrl, keptFor } = settings;
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
      notice(`warning: sending the key saved for ${keptFor} to ${baseUrl}`);
    return { baseUrl, key, serviceKey: renewable(key), embedded: false };
  });

  const renewable = (key: string): ServiceKey => {
    const { command, print } = settings.key;
    if (!print) return new ServiceKey(key);
    return new ServiceKey(key, {
      print,
      onReplaced: () =>
        notice(`the service rejected the key; the run continues with another one from ${command}`),
      onFailed(error) {
        if (error instanceof Failure) notice(`warning: no other key: ${error.message}`);
      },
    });
  };

  const store = once(async () => {
    if (flags.sandbox || settings.store === undefined || settings.store === 'off') return undefined;
    const { openStore } = await import('./open-store.ts');
    const { baseUrl, key } = await target();
    const opened = await openStore({ baseUrl, key }, io, settings, trace);
    closers.push(() => opened.link.close());
    return opened;
  });

  const localLedger = (hasBudgets: boolean): Ledger => {
    const named = {
      command: settings.command,
      profile,
      host: settings.machine,
      agent: agentOf(io.env),
    };
    const caps = hasBudgets ? watchCaps(settings, notice) : undefined;
    return openLedger(folders.state, named, io.clock, notice, caps);
  };

  const ledger = once(async (): Promise<Ledger> => {
    const [local, shared] = [localLedger(!flags.sandbox), await store()];
    if (shared === undefined) return local;
    const { createStoreLedger } = await import('../../store/ledger.ts');
    return createStoreLedger(shared, local, {
      command: settings.command,
      clock: io.clock,
      stop: settings.storeAway === 'stop',
      ttlMs: Math.max(LEAST_TTL_MS, (LONGEST_RESPONSE + 1) * (settings.timeout ?? 0)),
      async meter() {
        const { known } = await (await client()).call('me', {});
        return { unitsUsed: known.usage?.unitsUsed ?? 0, period: known.usage?.period ?? '' };
      },
    });
  });

  async function connect(
    to: Target,
    shared: RunStore | undefined,
    payments: Ledger,
  ): Promise<Client> {
    const { baseUrl, key, serviceKey = new ServiceKey(key), embedded } = to;
    // Do not share the rate limits of the embedded service, which belongs to this process.
    const local = openWindows(embedded ? undefined : folders.state, baseUrl, key, io.clock, notice);
    const differences = openDifferenceLog(to, settings, io);
    const limit = createNoticeLimit(io.clock.mono, repeatedNotices, FIRST_NOTICES);
    closers.push(() => {
      for (const line of limit.rest()) notice(line);
    });
    const client = createClient({
      transport: createTransport(io.env),
      baseUrl,
      key: serviceKey,
      clock: io.clock,
      random: io.random,
      windows:
        shared === undefined
          ? local
          : (await import('../../store/windows.ts')).createStoreWindows(
              shared,
              local,
              io.clock,
              notice,
            ),
      inFlight: io.inFlight,
      limit: permission,
      ledger: payments,
      retries: settings.retries,
      timeoutMs: settings.timeout,
      notify(event) {
        if (event.kind === 'difference')
          differences.note(event.call, differenceText(event.difference));
        // After the reader has closed the output, the ledger has the maximum cost.
        if (event.kind === 'lost' && closing.reason === outputClosed) return;
        if (event.kind === 'trace') return trace?.(noticeText(event));
        const shown = limit.show(event.kind, noticeText(event));
        if (shown !== undefined) notice(shown);
      },
      userAgent: `trdr/${version}`,
      insecureHttp: settings.insecureHttp,
    });
    closers.push(client.close);
    return client;
  }

  const client = once(
    async (): Promise<Client> => connect(await target(), await store(), await ledger()),
  );
  // The budgets do not apply to the calls of a client for another service or key, which are free.
  return {
    target,
    store,
    ledger,
    client,
    connect: (to: Target) => connect(to, undefined, localLedger(false)),
  };
}

/** All embedded services share one list, whatever their port. */
export const openDifferenceLog = (
  { baseUrl, embedded }: Pick<Target, 'baseUrl' | 'embedded'>,
  { folders }: Pick<RunSettings, 'folders'>,
  { clock }: Pick<Io, 'clock'>,
): DifferenceLog => openDifferences(folders.state, embedded ? 'sandbox:' : baseUrl, clock.now);

/** A running tail also obeys "trdr budget set". A deleted or damaged config file leaves the known budgets in force. */
function watchCaps(
  {
    folders,
    profile,
    budgetDay,
    budgetMonth,
  }: Pick<RunSettings, 'folders' | 'profile' | 'budgetDay' | 'budgetMonth'>,
  notice: (text: string) => void,
): () => Caps | undefined {
  const path = folders.config && join(folders.config, 'config.json');
  const caps = { day: budgetDay, month: budgetMonth };
  let reported = '';
  const hasBudget = () => caps.day !== undefined || caps.month !== undefined;
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
    for (const [period, name] of [
      ['day', 'budgetDay'] as const,
      ['month', 'budgetMonth'] as const,
    ]) {
      const limit = saved[name] === undefined ? undefined : readSetting(name, saved[name], name);
      if (limit === caps[period]) continue;
      caps[period] = limit;
      const change = limit === undefined ? 'was removed' : `is now ${unitsText(limit)}`;
      notice(`the ${period} budget of profile "${profile}" ${change}`);
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
