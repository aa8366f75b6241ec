import { join } from 'node:path';
import { Failure } from '../base/failure.ts';
import type { Client, Ledger } from '../contract/ports.ts';
import { withoutKey, withoutKeys } from '../core/client/mask-key.ts';
import { createNotices, type LogForm } from '../output/notices.ts';
import { outputClosed, type Sink } from '../output/sink.ts';
import { wantsUnicode } from '../output/terminal/style.ts';
import type { View } from '../output/view.ts';
import type { Parsed } from './args/parse.ts';
import type { AnyCommand } from './command.ts';
import type { Target } from './connect.ts';
import type { Context, OutputSink, Records } from './context.ts';
import type { Io } from './io.ts';
import { formatOf, openSink, renderOptions, selectedFields } from './output.ts';
import { createScreen } from './screen.ts';
import { loadSettings } from './settings/settings.ts';
import { isInterrupted, prepareShutdown } from './shutdown.ts';
import { lookAtAccount } from './spend/balance.ts';
import { createPermission } from './spend/permission.ts';
import type { RunStore } from './store/open-store.ts';

/** Creates the context of a command. Nothing is opened or loaded before it is needed. */
export async function createContext(
  io: Io,
  command: AnyCommand,
  { globals, given }: Parsed,
): Promise<Context> {
  const loaded = loadSettings(io, globals, command.settings);
  // The embedded service has its own ledger and cache, separate from those of real money.
  const settings = globals.sandbox
    ? { ...loaded, profile: 'sandbox', folders: sandboxFolders(loaded.folders) }
    : loaded;
  // A plan is always printed to stdout: --out and --fields apply to records.
  const shown = globals.dryRun ? { ...globals, out: undefined, fields: undefined, bom: false } : globals;
  const format = formatOf(shown, settings.output, io.stdout.isTTY === true, command);
  const closing = new AbortController();
  const signal = AbortSignal.any([io.signal, closing.signal]);
  const closers: (() => Promise<void>)[] = [];
  let client: Promise<Client> | undefined;
  let opened: Client | undefined;

  const write = createNotices({
    stream: () => io.stderr,
    quiet: globals.quiet,
    unicode: wantsUnicode(io.env, io.platform),
    form: logForm(given['logFormat'], io.stderr.isTTY === true),
    now: io.clock.now,
  });
  const screen = createScreen((text) => write(withoutKeys(withoutKey(text, settings.key))));
  const { notice } = screen;

  const permission = createPermission({
    io,
    signal,
    ...{ confirmAbove: settings.confirmAbove, maxCu: settings.maxCu, yes: globals.yes },
    sandbox: globals.sandbox,
    spent: () => opened?.spent.atMost ?? 0,
    left: async () => opened?.left ?? (await lookAtAccount(await context.client(), signal)),
    asking: screen.asking,
  });

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
    const { noticeText } = await import('./notices.ts');
    const made = await connect(other, {
      io,
      command: command.path,
      settings,
      permission,
      notice,
      store,
      ledger,
      notify(event) {
        // The reader has closed the output, so the loss is not reported; the ledger has its bound.
        if (event.kind === 'lost' && closing.signal.reason === outputClosed) return;
        if (event.kind !== 'trace') notice(noticeText(event));
        // --debug prints traces even with --quiet.
        else if (globals.debug) write(noticeText(event), 'debug');
      },
    });
    closers.push(made.close);
    return made;
  }

  let found: Promise<Target> | undefined;
  const target = () => {
    found ??= findTarget();
    return found;
  };

  async function openClient(): Promise<Client> {
    opened = await connectTo(await target(), await store(), await ledger());
    return opened;
  }

  let openedLedger: Promise<Ledger> | undefined;
  const ledger = () => {
    openedLedger ??= openRunLedger();
    return openedLedger;
  };

  async function openRunLedger(): Promise<Ledger> {
    const { ledgerOf } = await import('./connect.ts');
    const local = ledgerOf(io, settings, command.path, notice, !globals.sandbox);
    const shared = await store();
    if (shared === undefined) return local;
    const { sharedLedger } = await import('./store/shared-ledger.ts');
    const parts = { io, settings, notice, command: command.path, client: context.client };
    return sharedLedger(shared, local, parts);
  }

  let openedStore: Promise<RunStore | undefined> | undefined;
  const store = () => {
    openedStore ??= openRunStore();
    return openedStore;
  };

  /** The shared store; the embedded service has none. */
  async function openRunStore(): Promise<RunStore | undefined> {
    if (globals.sandbox || settings.store === undefined || settings.store === 'off') return undefined;
    const { openStore } = await import('./store/open-store.ts');
    const { baseUrl, key } = await target();
    const trace = globals.debug ? (line: string) => write(line, 'debug') : undefined;
    const run = openStore({ baseUrl, key: key ?? '' }, { io, settings, trace });
    closers.push(async () => run.link.close());
    return run;
  }

  const sinks: Sink[] = [];
  let cached = false;
  prepareShutdown(io, sinks, notice);

  async function output(into?: Sink): Promise<OutputSink> {
    const sink = into ?? (await openSink(io, shown.out, command.stream === true));
    sinks.push(sink);
    watch(sink);
    let ended = false;
    closers.push(async () => {
      if (!ended) await sink.abandon();
    });
    return {
      ...sink,
      async end() {
        await sink.end();
        ended = true;
      },
      async endEarly() {
        if (!isInterrupted(io) || !sink.setAside) await sink.end();
        else if ((opened?.spent.atMost ?? 0) === 0) return;
        else notice(`${shown.out} is unchanged; the rows paid for so far are in ${await sink.setAside()}`);
        ended = true;
      },
    };
  }

  async function records<T>(view: View<T>, single = false, into?: Sink): Promise<Records<T>> {
    const fields = await selectedFields(shown.fields, view);
    const { createPrinter } = await import('../output/format/printer.ts');
    const sink = await output(into);
    const printer = await createPrinter({
      sink,
      view,
      format,
      fields,
      single,
      live: command.stream === true,
      notify: notice,
      ...(await renderOptions(io, shown, settings)),
    });
    return {
      ...printer,
      closed: sink.closed,
      flush: () => sink.flush(),
      async end() {
        await printer.end();
        await sink.end();
      },
      async endEarly() {
        await printer.end();
        await sink.endEarly();
      },
    };
  }

  /** Ends every wait of the run when the reader closes or the disk is full. */
  function watch(sink: Sink) {
    const end = () => closing.abort(sink.closed.reason);
    if (sink.closed.aborted) end();
    else sink.closed.addEventListener('abort', end, { once: true });
  }

  const context: Context = {
    io,
    command: command.path,
    globals,
    settings,
    format,
    signal,
    scope: scopeOf(globals.sandbox, settings),
    notice,
    records,
    client() {
      client ??= openClient();
      return client;
    },
    target,
    connect: (other) => connectTo(other),
    store,
    ledger,
    output,
    answersAreCached(are = true) {
      cached = are && settings.folders.cache !== undefined;
    },
    get lostPaidRows() {
      const paid = !globals.sandbox && (opened?.spent.atMost ?? 0) > 0;
      return paid && !cached && command.stream !== true && sinks.some((sink) => sink.lost?.());
    },
    get spent() {
      return opened?.spent.cu ?? 0;
    },
    async emit(view, single, body) {
      const out = await records(view, single);
      let any = false;
      const counted: typeof out = {
        ...out,
        write(record) {
          const written = out.write(record);
          any = true;
          return written;
        },
      };
      try {
        await body(counted);
      } catch (error) {
        if (any && !closing.signal.aborted) await out.endEarly();
        throw error;
      }
      await out.end();
    },
    async print(view, list) {
      await context.emit(view, false, async (out) => {
        for await (const record of list) await out.write(record);
      });
    },
    async printOne(view, record) {
      await context.emit(view, true, (out) => out.write(record));
    },
    async dryRun(planned) {
      if (!globals.dryRun) return false;
      const { plannedCalls, printPlan } = await import('./spend/plan.ts');
      await printPlan(context, plannedCalls(planned));
      return true;
    },
    permission,
    display: screen.display,
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
  return context;
}

/** The form of notices: commands that run as services print timestamps unless stderr is a terminal. */
const logForm = (format: unknown, isTerminal: boolean): LogForm => {
  if (format === 'json') return 'json';
  return format === undefined || isTerminal ? 'plain' : 'stamped';
};

/**
 * The generated data of the sandbox is always the same, whatever its port, so cached answers stay valid.
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
