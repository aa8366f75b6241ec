import { Failure, usageError } from '../../base/failure.ts';
import { storeUrl } from '../../base/url-values.ts';
import { needFolder } from '../../state/paths.ts';
import { readStoreUrl, type StoreAddress } from '../../store/address.ts';
import { hintForCheck } from '../../store/away-failure.ts';
import { flag } from '../args/option.ts';
import { readAll } from '../args/stdin.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import type { Io } from '../io.ts';
import { askLine, askUrlAgain, isAttended } from '../output/prompt.ts';
import { configOf } from '../settings/settings.ts';

/** The maximum length of the password on stdin in bytes. Longer input is not a password. */
const LONGEST = 4096;

export const storeLogin = command({
  path: 'store login',
  summary: 'Verify a shared store and save its URL to a profile',
  about: [
    'A store is a Redis (7.0 or newer) or Valkey server. Through it, all machines that use the same key share one rate limit, one budget, one cache and one paid feed.',
    'Prompts for the password (input hidden; leave it empty for none), or reads it from stdin with --with-password, or uses TRDR_STORE_PASSWORD. The store is verified before it is saved, unless --no-verify is given.',
  ],
  args: [{ name: 'url', help: 'URL of the store, without a password' }],
  options: {
    withPassword: flag('--with-password', 'read the password from stdin'),
    noVerify: flag('--no-verify', 'save the store without verifying it'),
  },
  common: [],
  examples: [
    { run: 'trdr store login rediss://desk@redis.internal:6379/0', does: 'prompt for the password' },
    {
      run: 'pass show redis/desk | trdr store login redis://desk@127.0.0.1 --with-password',
      does: 'read the password from a password manager',
    },
  ],
  savesSettings: true,
  calls: [],
  settings: 'tolerant',
  exits: [0, 2, 4, 9, 130],
  parse: ([url = ''], given) => ({ ...given, url }),
  async run(context, { url: given, withPassword, noVerify }) {
    const { io, settings, signal, notice } = context;
    let url = given;
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
    const next =
      settings.key === undefined
        ? 'run "trdr auth login" to save the API key that the machines share'
        : 'run "trdr store check" to check its configuration';
    notice(`Saved store ${address.shown} to profile "${settings.profile}"; ${next}`);
    if (io.env['TRDR_STORE']) notice('TRDR_STORE is set and overrides the store of every profile');
    return 0;
  },
});

/** Rejects a URL that is not the URL of a store. */
function checkStoreUrl(url: string): void {
  if (storeUrl.read(url) !== undefined) return;
  readStoreUrl(url); // Throws if the problem has an error of its own, such as a password in the URL.
  throw usageError('invalid store URL', 'write it as redis://user@host:6379/0, without spaces');
}

/** Connects to the store, unless --no-verify is given, and returns its address. */
async function reach(
  { io, settings, notice }: Context,
  url: string,
  password: string | undefined,
  noVerify: boolean,
): Promise<StoreAddress> {
  const { openStore } = await import('../store/open-store.ts');
  const scope = { baseUrl: settings.baseUrl ?? '', key: settings.key ?? '' };
  const store = openStore(scope, { io, settings: { ...settings, store: url, storePassword: password } });
  if (noVerify) return store.address;
  // Without an API key, only connect: the further checks need names in the store, which are derived from the API key.
  const { connectStore } = await import('../../store/connection.ts');
  const opening = settings.key === undefined ? connectStore(store.address, store.connect) : store.link.open();
  const connection = await opening.catch((error: unknown) => {
    throw ofLogin(error, password !== undefined);
  });
  connection.close();
  const { product, version } = connection.server;
  notice(`${store.address.shown} is reachable (${product} ${version})`);
  return store.address;
}

/**
 * Adapts the hint of a connection failure to a login: the store is not saved yet, and the user may have piped
 * the password in without --with-password.
 */
function ofLogin(error: unknown, hasPassword: boolean): unknown {
  if (!(error instanceof Failure)) return error;
  const { kind, message, code, hint } = error;
  if (hasPassword || code !== 'STORE_DENIED')
    return new Failure(kind, message, { code, hint: hintForCheck(hint), cause: error });
  return new Failure(kind, `${message}; no password was given`, {
    code,
    hint: 'pass --with-password to read the password from stdin, or set TRDR_STORE_PASSWORD',
  });
}

async function readPassword(io: Io, fromStdin: boolean, signal: AbortSignal): Promise<string | undefined> {
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
