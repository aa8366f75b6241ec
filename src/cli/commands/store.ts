import { duration } from '../../base/durations.ts';
import { checkHintOf, Failure, usageError } from '../../base/failure.ts';
import { storeUrl } from '../../base/url-values.ts';
import { oneOf } from '../../base/values.ts';
import { StoreItem } from '../../contract/records/store.ts';
import { CheckRecord } from '../../contract/records/tool.ts';
import { readAll } from '../../input/read-text.ts';
import { checkView } from '../../output/views/settings.ts';
import { storeView } from '../../output/views/store.ts';
import { outputFormats } from '../../state/config/settings-table.ts';
import { needFolder } from '../../state/paths.ts';
import { readStoreUrl, type StoreAddress } from '../../store/address.ts';
import { flag, value } from '../args/option.ts';
import { command } from '../command.ts';
import { failedCheck } from '../doctor/judge.ts';
import { exitOf } from '../exit.ts';
import type { Io } from '../io.ts';
import { agree, askLine, askUrlAgain, isAttended } from '../prompt.ts';
import type { Context } from '../run/context.ts';
import { configOf, knownSecret } from '../settings/settings.ts';
import { feedLagFailure } from '../store/feed-lag.ts';
import storeCheckPage from './store-check.md';
import storeClearPage from './store-clear.md';
import storeLoginPage from './store-login.md';
import storeStatusPage from './store-status.md';

/** The maximum length of the password on stdin in bytes. Longer input is not a password. */
const LONGEST = 4096;

export const storeLogin = command({
  path: 'store login',
  page: storeLoginPage,
  args: [{ name: 'url', help: 'URL of the store, without a password' }],
  options: {
    withPassword: flag('--with-password', 'read the password from stdin'),
    noVerify: flag('--no-verify', 'save the store without verifying it'),
  },
  savesSettings: true,
  settings: 'tolerant',
  exits: [4, 9, 130],
  parse: ([url = ''], flags) => ({ ...flags, url }),
  async run(context, { url: typed, withPassword, noVerify }) {
    const { io, signal } = context.terminal;
    const { settings } = context;
    let url = typed;
    if (url === 'off')
      throw usageError(
        'expected the URL of a store, got "off"',
        'to use no store, run "trdr config set store off"',
      );
    checkStoreUrl(url);
    needFolder(settings.folders, 'config');
    const password = await readPassword(io, withPassword, signal);
    let address: StoreAddress | undefined;
    for (let tried = url; address === undefined; ) {
      try {
        checkStoreUrl(tried);
        address = await reach(context, tried, password, noVerify);
        url = tried;
      } catch (error) {
        tried = await askUrlAgain(io, error, tried, signal);
      }
    }
    await configOf(io).storeLogin(settings.profile, { store: url, password });
    const next = !settings.key.isSet
      ? 'run "trdr auth login" to save the API key that the machines share'
      : 'run "trdr store check" to check its configuration';
    context.terminal.notice(
      `Saved store ${address.shown} to profile "${settings.profile}"; ${next}`,
    );
    if (io.env['TRDR_STORE'])
      context.terminal.notice('TRDR_STORE is set and overrides the store of every profile');
  },
});

/** Rejects a URL that is not the URL of a store. */
function checkStoreUrl(url: string): void {
  if (storeUrl.read(url) !== undefined) return;
  // Throws if the problem has an error of its own, such as a password in the URL.
  readStoreUrl(url);
  throw usageError('invalid store URL', 'write it as redis://user@host:6379/0, without spaces');
}

async function reach(
  { terminal, settings }: Context,
  url: string,
  password: string | undefined,
  noVerify: boolean,
): Promise<StoreAddress> {
  const { openStore } = await import('../run/open-store.ts');
  const key = noVerify ? undefined : await settings.key.get();
  const scope = { baseUrl: settings.baseUrl ?? '', key: key ?? '' };
  const storePassword = knownSecret(password);
  const store = await openStore(scope, terminal.io, { ...settings, store: url, storePassword });
  if (noVerify) return store.address;
  // Without an API key, only connect: the further checks need names in the store, which are derived
  // from the API key.
  const { connectStore } = await import('../../store/connection.ts');
  const opening =
    key === undefined ? connectStore(store.address, store.connect) : store.link.open();
  const connection = await opening.catch((error: unknown) => {
    throw ofLogin(error, password !== undefined);
  });
  connection.close();
  const { product, version } = connection.server;
  terminal.notice(`${store.address.shown} is reachable (${product} ${version})`);
  return store.address;
}

/**
 * The store is not saved yet, and the user may have piped the password in without --with-password.
 */
function ofLogin(error: unknown, hasPassword: boolean): unknown {
  if (!(error instanceof Failure)) return error;
  const { kind, message, code } = error;
  if (hasPassword || code !== 'STORE_DENIED')
    return new Failure(kind, message, { code, hint: checkHintOf(error), cause: error });
  return new Failure(kind, `${message}; no password was given`, {
    code,
    hint: 'pass --with-password to read the password from stdin, or set TRDR_STORE_PASSWORD',
  });
}

async function readPassword(
  io: Io,
  fromStdin: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (fromStdin) return (await readAll(io, LONGEST, signal)).trim() || undefined;
  if (io.env['TRDR_STORE_PASSWORD']) return io.env['TRDR_STORE_PASSWORD'];
  if (!isAttended(io)) return undefined;
  const typed = await askLine(io, 'Password of the store (input hidden; empty for none):', {
    hidden: true,
    signal,
  });
  if (typed === undefined)
    throw new Failure('auth', 'no password given; nothing was saved', { code: 'NO_PASSWORD' });
  return typed.trim() || undefined;
}

export const storeCheck = command({
  path: 'store check',
  page: storeCheckPage,
  common: ['output'],
  record: () => CheckRecord,
  exits: [4, 9],
  async run(context) {
    const { examine } = await import('../../store/check.ts');
    const { keys, link, address } = await context.service.needStore();
    const user = address.username ?? 'default';
    let failed = false;
    const records = await context.out.records(checkView);
    try {
      await link.use(async (store) => {
        await records.write({ check: 'reach', verdict: 'ok', detail: address.shown });
        const findings = examine(store, keys, user, context.terminal.io.clock);
        for await (const { next, ...finding } of findings) {
          failed ||= finding.verdict === 'fail';
          await records.write({ ...finding, ...(next && { next: checkHintOf({ hint: next }) }) });
        }
      });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failed = true;
      await records.write(failedCheck('reach', error).record);
    }
    await records.end();
    return failed ? exitOf.network : 0;
  },
});

export const storeStatus = command({
  path: 'store status',
  page: storeStatusPage,
  options: {
    maxLag: value('--max-lag', 'exit 9 if a feed was last verified longer ago than this', duration),
    output: value(
      '-o, --output',
      'output format',
      oneOf(...outputFormats, 'metrics'),
      'table on a terminal, otherwise ndjson',
    ),
  },
  common: ['output'],
  record: () => StoreItem,
  exits: [4, 9],
  async run(context, { maxLag, output }) {
    const { readStatus } = await import('../../store/status.ts');
    const store = await context.service.needStore();
    const items = await store.link.use((connection) => readStatus(connection, store));
    if (output === 'metrics') {
      const { storeMetricsText } = await import('../../output/views/store-metrics.ts');
      await context.out.printText(storeMetricsText(items));
    } else await context.out.print(storeView, items);
    const failure = maxLag === undefined ? undefined : feedLagFailure(items, maxLag);
    if (failure) throw failure;
  },
});

export const storeClear = command({
  path: 'store clear',
  page: storeClearPage,
  args: [
    { name: 'what', help: 'cache, feed or all', choices: ['cache', 'feed', 'all'] },
    { name: 'feed', help: 'name of the feed, as in "trdr store status"', optional: true },
  ],
  options: { yes: flag('-y, --yes', 'remove without asking') },
  exits: [4, 9, 11, 130],
  parse([what = '', feed], flags) {
    if (!['cache', 'feed', 'all'].includes(what)) {
      throw usageError(`invalid value "${what}"`, 'choose from cache, feed, all');
    }
    if (what === 'feed' && feed === undefined)
      throw usageError(
        '"trdr store clear feed" requires the argument NAME',
        'write it as: trdr store clear feed NAME',
      );
    if (what !== 'feed' && feed !== undefined)
      throw usageError(
        'too many arguments: only "feed" takes a name',
        `write it as: trdr store clear ${what}`,
      );
    return { ...flags, what, feed };
  },
  async run(context, { what, feed, yes }) {
    const { findKeys, removeKeys } = await import('../../store/clear.ts');
    const { keys, link, address } = await context.service.needStore();
    const stored = await link.use((store) => findKeys(store, keys, what, feed));
    if (stored.length === 0) {
      context.terminal.notice(
        what === 'feed' ? `no feed "${feed}" in the store; nothing to remove` : 'nothing to remove',
      );
      return;
    }
    const names: Readonly<Record<string, string>> = {
      cache: 'cached answers',
      feed: `feed ${feed}`,
      all: 'everything of this API key',
    };
    const text = `Remove ${names[what]} (${stored.length} Redis keys) from ${address.shown}?`;
    const alone = {
      message: 'not running interactively; nothing was removed',
      hint: 'pass --yes to remove without asking',
    };
    if (!yes)
      await agree(context.terminal.io, text, context.terminal.signal, alone, {
        message: 'cancelled; nothing was removed',
      });
    await link.use((store) => removeKeys(store, keys, stored, what === 'feed' ? feed : undefined));
    context.terminal.notice(`Removed ${names[what]} (${stored.length} Redis keys)`);
  },
});
