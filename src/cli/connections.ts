import { Failure } from '../base/failure.ts';
import type { Client, Ledger } from '../contract/ports.ts';
import { outputClosed } from '../output/sink.ts';
import type { Globals } from './args/common.ts';
import type { AnyCommand } from './command.ts';
import type { Target } from './connect.ts';
import type { Io } from './io.ts';
import { type Recorded, sumLedger } from './receipt.ts';
import type { RunSettings } from './settings/settings.ts';
import type { Permission } from './spend/permission.ts';
import type { RunStore } from './store/open-store.ts';

/** How many notices of each repeated kind are always shown. Later ones are limited. */
const FIRST_NOTICES = 20;

/** The service, ledger and store of a run. Each is opened when it is first used. */
export interface Connections {
  target(): Promise<Target>;
  client(): Promise<Client>;
  /** A client for another service or key, to which the budgets and the store of the run do not apply. */
  connect(other: Target): Promise<Client>;
  ledger(): Promise<Ledger>;
  store(): Promise<RunStore | undefined>;
  /** What the run has written to the ledger of this machine. */
  readonly recorded: () => Recorded;
  /** The client of the run; undefined if it was not created yet. */
  readonly opened: Client | undefined;
  close(): Promise<void>;
}

/** The facts about the run that the connections need. */
export interface RunConnectionOptions {
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
}

/** Creates the connections without opening any of them. */
export function createConnections(options: RunConnectionOptions): Connections {
  const { io, command, globals, settings, permission, notice, trace, closing } = options;
  const closers: (() => Promise<void>)[] = [];
  let opened: Client | undefined;
  let recorded = () => ({ calls: 0, cu: 0, cuAtMost: 0 });

  async function findTarget(): Promise<Target> {
    if (globals.sandbox) {
      const { startEmbedded } = await import('./commands/sandbox.ts');
      const embedded = await startEmbedded(command.stream === true);
      closers.push(embedded.close);
      return { baseUrl: embedded.url, key: embedded.key, embedded: true };
    }
    const { baseUrl, key, profile } = settings;
    if (baseUrl === undefined) {
      throw new Failure('auth', 'no base URL configured', {
        code: 'NO_BASE_URL',
        hint: 'run "trdr auth login --base-url URL", set TRDR_BASE_URL, or try --sandbox',
      });
    }
    if (key === undefined) {
      throw new Failure('auth', `no key configured for profile "${profile}"`, {
        code: 'NO_KEY',
        hint: 'run "trdr auth login", set TRDR_API_KEY, or try --sandbox',
      });
    }
    const { keptFor } = settings;
    if (keptFor !== undefined) {
      notice(`warning: sending the key saved for ${keptFor} to ${baseUrl}`);
    }
    return { baseUrl, key, embedded: false };
  }

  async function connectTo(other: Target, store?: RunStore, ledger?: Ledger): Promise<Client> {
    const { connect } = await import('./connect.ts');
    const { noticeText, repeatedNotices } = await import('./output/client-notice-text.ts');
    const { createNoticeLimit } = await import('./output/notice-limit.ts');
    const limit = createNoticeLimit(io.clock.mono, repeatedNotices, FIRST_NOTICES);
    closers.push(async () => {
      for (const line of limit.rest()) notice(line);
    });
    const made = await connect(other, {
      io,
      command: command.path,
      settings,
      permission,
      notice,
      store,
      ledger,
      notify(event) {
        // Print no notice of a lost answer after the reader has closed the output. The ledger already
        // contains the maximum cost of the call.
        if (event.kind === 'lost' && closing.reason === outputClosed) return;
        if (event.kind === 'trace') return trace?.(noticeText(event));
        const shown = limit.show(event.kind, noticeText(event));
        if (shown !== undefined) notice(shown);
      },
    });
    closers.push(made.close);
    return made;
  }

  async function openClient(): Promise<Client> {
    opened = await connectTo(await target(), await store(), await ledger());
    return opened;
  }

  async function openRunLedger(): Promise<Ledger> {
    const { ledgerOf } = await import('./connect.ts');
    const summed = sumLedger(ledgerOf(io, settings, command.path, notice, !globals.sandbox));
    recorded = summed.recorded;
    const local = summed.ledger;
    const shared = await store();
    if (shared === undefined) return local;
    const { sharedLedger } = await import('./store/shared-ledger.ts');
    const parts = { io, settings, notice, command: command.path, client: connections.client };
    return sharedLedger(shared, local, parts);
  }

  /** The shared store; undefined if none is configured, and for the embedded service. */
  async function openRunStore(): Promise<RunStore | undefined> {
    if (globals.sandbox || settings.store === undefined || settings.store === 'off') return undefined;
    const { openStore } = await import('./store/open-store.ts');
    const { baseUrl, key } = await target();
    const run = openStore({ baseUrl, key: key ?? '' }, { io, settings, trace });
    closers.push(async () => run.link.close());
    return run;
  }

  const target = once(findTarget);
  const client = once(openClient);
  const ledger = once(openRunLedger);
  const store = once(openRunStore);
  const connections: Connections = {
    target,
    client,
    connect: (other) => connectTo(other),
    ledger,
    store,
    recorded: () => recorded(),
    get opened() {
      return opened;
    },
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
  return connections;
}

/** Calls `open` the first time, and returns the same promise from then on. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= open();
    return result;
  };
}
