import { Failure, usageError } from '../../base/failure.ts';
import { commandLine } from '../../base/values.ts';
import { readAccount } from '../../contract/records/account.ts';
import { ProfileRecord } from '../../contract/records/tool.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import { ServiceKey } from '../../core/client/service-key.ts';
import { parseBaseUrl } from '../../core/http/base-url.ts';
import { readAll } from '../../input/read-text.ts';
import { profileView } from '../../output/views/settings.ts';
import { checkProfileName } from '../../state/config/config.ts';
import { checkKeyFormat, keyKind, noProfile, profileOf } from '../../state/config/profile.ts';
import { needFolder } from '../../state/paths.ts';
import { excluding, flag, value } from '../args/option.ts';
import { command } from '../command.ts';
import type { Io } from '../io.ts';
import { askLine, askUrlAgain, isAttended, showProblem } from '../prompt.ts';
import type { Context } from '../run/context.ts';
import { printDryRun } from '../run/dry-run.ts';
import {
  isInKeychain,
  keepInKeychain,
  needKeychain,
  removeFromKeychain,
} from '../settings/keychain.ts';
import { printedSecret } from '../settings/secret-command.ts';
import {
  configOf,
  profileName,
  type SavedProfile,
  savedProfiles,
  sourcedSettings,
} from '../settings/settings.ts';
import authLoginPage from './auth-login.md';
import authLogoutPage from './auth-logout.md';
import authStatusPage from './auth-status.md';
import authSwitchPage from './auth-switch.md';

export const authLogin = command({
  path: 'auth login',
  page: authLoginPage,
  excess:
    'a key is never accepted as an argument: type it at the prompt, or pipe it in with --with-key',
  options: {
    withKey: flag('--with-key', 'read the key from stdin'),
    keyCommand: excluding(
      value('--key-command', 'save a command that prints the key, not the key', commandLine),
      '--with-key',
    ),
    keychain: excluding(
      flag('--keychain', 'keep the key in the keychain of the system'),
      '--key-command',
    ),
    noVerify: flag('--no-verify', 'save the key without verifying it'),
  },
  common: ['service'],
  savesSettings: true,
  calls: ['me'],
  settings: 'tolerant',
  exits: [130],
  async run(context, { withKey, keyCommand, keychain, noVerify }) {
    const { io, signal } = context.terminal;
    const { flags } = context.settings;
    if (keychain) needKeychain(io);
    if (await printDryRun(context, noVerify ? [] : [{ id: 'me', ask: {} }])) return;
    // Fail before the prompt if there is no folder in which the key can be saved.
    needFolder(context.settings.folders, 'config');
    const settings = sourcedSettings(io, flags, true);
    const profile = settings.profile.value;
    const insecureHttp = settings.insecureHttp.value;
    const stated = settings.baseUrl.value;
    let baseUrl =
      stated === undefined
        ? await askBaseUrl(context, insecureHttp)
        : checkUrl(stated, insecureHttp);
    let key = '';
    if (keyCommand === undefined) key = await readKey(io, withKey, signal);
    // A command that is saved unverified need not be run, and may not work on this machine.
    else if (!noVerify) key = await printedSecret('--key-command', keyCommand, io, checkKeyFormat);
    let plan: string | null | undefined;
    for (let url = baseUrl; !noVerify && plan === undefined; ) {
      try {
        baseUrl = checkUrl(url, insecureHttp);
        plan = await planOf(context, baseUrl, key);
      } catch (error) {
        url = await askUrlAgain(io, error, baseUrl, signal);
      }
    }
    const login = { key, keyCommand, baseUrl };
    await (keychain ? saveInKeychain(io, profile, login) : saveLogin(io, profile, login));

    const kind = keyKind(key);
    const shown = `${kind === 'unknown' ? '' : `${kind} `}key ${maskKey(key)}`;
    const what =
      keyCommand === undefined ? shown : `the key command${noVerify ? '' : ` (${shown})`}`;
    const where = keychain
      ? `to the keychain, and the command that reads it to profile "${profile}"`
      : `to profile "${profile}"`;
    context.terminal.notice(
      `Saved ${what} for ${baseUrl} ${where}${plan ? ` (plan ${plan})` : ''}`,
    );
    noticeOverrides(context);
    const used = configOf(io).read().current;
    if (used !== profile && used !== undefined) {
      context.terminal.notice(
        `the current profile is still "${used}"; to change it, run "trdr auth switch ${profile}"`,
      );
    }
  },
});

interface NewLogin {
  readonly key: string;
  readonly keyCommand: string | undefined;
  readonly baseUrl: string;
}

async function saveLogin(io: Io, profile: string, login: NewLogin): Promise<void> {
  const { key, keyCommand, baseUrl } = login;
  const wasInKeychain = isInKeychain(io, profile, savedCommand(io, profile));
  await configOf(io).login(profile, {
    ...(keyCommand === undefined ? { key } : { keyCommand }),
    baseUrl,
  });
  if (wasInKeychain && !isInKeychain(io, profile, keyCommand))
    await removeFromKeychain(io, profile);
}

async function saveInKeychain(io: Io, profile: string, login: NewLogin): Promise<void> {
  checkProfileName(profile);
  const isOwn = isInKeychain(io, profile, savedCommand(io, profile));
  const keyCommand = await keepInKeychain(io, profile, login.key, isOwn);
  await configOf(io).login(profile, { keyCommand, baseUrl: login.baseUrl });
}

const savedCommand = (io: Io, profile: string): unknown =>
  profileOf(configOf(io).read(), profile)?.['keyCommand'];

const keyVariables = ['TRDR_API_KEY', 'TRDR_KEY_COMMAND'];

function noticeOverrides({ terminal }: Context): void {
  for (const name of keyVariables)
    if (terminal.io.env[name])
      terminal.notice(`${name} is set and overrides the key of every profile`);
}

/** Prompts for the base URL until the input is valid. An empty line cancels the login. */
async function askBaseUrl({ terminal }: Context, insecureHttp: boolean): Promise<string> {
  while (isAttended(terminal.io)) {
    const typed = (
      await askLine(terminal.io, 'Base URL of the service:', { signal: terminal.signal })
    )?.trim();
    if (!typed) break;
    try {
      return checkUrl(typed, insecureHttp);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      await showProblem(terminal.io, error);
    }
  }
  throw usageError('no base URL: which service is this key for?', 'add --base-url URL');
}

/** Returns the normalized base URL. Rejects plain HTTP to other machines. */
function checkUrl(text: string, insecureHttp: boolean): string {
  const { origin, prefix } = parseBaseUrl(text, { insecureHttp });
  return `${origin}${prefix}`;
}

/**
 * Null if the service does not report it. Throws if the service rejects the key, so that it is not
 * saved.
 */
async function planOf(context: Context, baseUrl: string, key: string): Promise<string | null> {
  const client = await context.service.connect({
    baseUrl,
    key: new ServiceKey(key),
    embedded: false,
  });
  try {
    const { record } = await client.call('me', {}, { signal: context.terminal.signal });
    return readAccount(record).plan;
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'auth') throw error;
    const { code, status, requestId } = error;
    throw new Failure('auth', `${baseUrl} rejected this key; nothing was saved`, {
      code,
      status,
      requestId,
      hint: 'check that you pasted the whole key and that it belongs to this service; use --no-verify to save it anyway',
    });
  }
}

export const authStatus = command({
  path: 'auth status',
  page: authStatusPage,
  options: { check: flag('--check', 'verify each key with the service') },
  common: ['output', 'service'],
  calls: ['me'],
  record: () => ProfileRecord,
  settings: 'tolerant',
  async run(context, { check }) {
    if (context.settings.flags.sandbox) return showEmbedded(context, check);
    const settings = sourcedSettings(context.terminal.io, context.settings.flags);
    const profiles = savedProfiles(
      settings,
      configOf(context.terminal.io).read(),
      context.terminal.io,
    );
    const asked = check
      ? profiles.filter(({ key, baseUrl }) => key.isSet && baseUrl !== undefined)
      : [];
    const calls = asked.map(() => ({ id: 'me', ask: {} }) as const);
    if (check && (await printDryRun(context, calls, profileView(check)))) return 0;
    for (const { message } of settings.problems) context.terminal.notice(message);

    let failed: unknown;
    async function* records() {
      for (const row of profiles) {
        const { record, failure } = check ? await checked(context, row) : { record: row.record };
        if (record.current) failed = failure;
        yield record;
      }
    }
    await context.out.print(profileView(check), records());
    if (failed !== undefined) throw failed;
    if (context.settings.key.isSet) return 0;
    throw new Failure('auth', `no key configured for profile "${settings.profile.value}"`, {
      code: 'NO_KEY',
      hint: 'run "trdr auth login", set TRDR_API_KEY, or try a command with --sandbox',
    });
  },
});

/** Returns a failure, so that the other profiles are still checked. */
async function checked(
  context: Context,
  { record, baseUrl, key }: SavedProfile,
): Promise<{ readonly record: ProfileRecord; readonly failure?: Failure }> {
  if (!key.isSet) return { record: { ...record, check: 'NO_KEY' } };
  if (baseUrl === undefined) return { record: { ...record, check: 'NO_BASE_URL' } };
  try {
    const client = await context.service.connect({
      baseUrl,
      key: new ServiceKey((await key.get()) ?? ''),
      embedded: false,
    });
    await client.call('me', {}, { signal: context.terminal.signal });
    return { record: { ...record, check: 'ok' } };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { record: { ...record, check: failure.code }, failure };
  }
}

async function showEmbedded(context: Context, check: boolean): Promise<0> {
  const view = profileView(check);
  if (check && (await printDryRun(context, [{ id: 'me', ask: {} }], view))) return 0;
  if (check) await context.service.call('me', {});
  await context.out.print(view, [
    {
      profile: 'sandbox',
      current: true,
      baseUrl: null,
      baseUrlFrom: '--sandbox',
      key: null,
      keyFrom: '--sandbox',
      mode: 'test' as const,
      ...(check && { check: 'ok' }),
    },
  ]);
  return 0;
}

export const authSwitch = command({
  path: 'auth switch',
  page: authSwitchPage,
  args: [{ name: 'profile', help: 'profile to switch to', complete: 'profile' }],
  savesSettings: true,
  settings: 'tolerant',
  exits: [9],
  parse: ([profile = '']) => profile,
  async run(context, profile) {
    const config = configOf(context.terminal.io);
    await config.use(profile);
    context.terminal.notice(`Switched to profile "${profile}"`);
    const { TRDR_PROFILE: named } = context.terminal.io.env;
    if (named && named !== profile)
      context.terminal.notice(`TRDR_PROFILE is set: commands use profile "${named}" instead`);
    noticeOverrides(context);
  },
});

export const authLogout = command({
  path: 'auth logout',
  page: authLogoutPage,
  args: [
    {
      name: 'profile',
      help: 'name of the profile [the current one]',
      optional: true,
      complete: 'profile',
    },
  ],
  options: { forget: flag('--forget', 'remove the whole profile, settings included') },
  savesSettings: true,
  settings: 'tolerant',
  exits: [9],
  parse: ([profile], flags) => ({ ...flags, profile }),
  async run(context, { profile, forget }) {
    const config = configOf(context.terminal.io);
    const name = profile ?? profileName(context.terminal.io, context.settings.flags);
    const file = config.read();
    const saved = profileOf(file, name);
    if (!saved) throw noProfile(file, name);
    if (forget) {
      await config.remove(name);
      context.terminal.notice(`Removed profile "${name}"`);
    } else {
      const hadKey = await config.logout(name);
      context.terminal.notice(
        hadKey ? `Logged out of profile "${name}"` : `profile "${name}" has no key`,
      );
    }
    const { io } = context.terminal;
    // Last, because a person without the keychain must be able to log out.
    if (isInKeychain(io, name, saved['keyCommand']) && (await removeFromKeychain(io, name)))
      context.terminal.notice('Removed its key from the keychain');
    for (const variable of keyVariables)
      if (context.terminal.io.env[variable])
        context.terminal.notice(`${variable} is still set, so commands continue to use its key`);
  },
});

/** The maximum length of the input in bytes. Longer input cannot be a key. */
const LONGEST = 4096;

async function readKey(io: Io, fromStdin: boolean, signal: AbortSignal): Promise<string> {
  if (isAttended(io)) {
    const typed = await askLine(io, 'API key (input hidden):', { hidden: true, signal });
    if (typed !== undefined) return checkKeyFormat(typed, 'the key');
    throw new Failure('auth', 'no key given; nothing was saved', { code: 'NO_KEY' });
  }
  if (!fromStdin) {
    throw usageError(
      'not running interactively: cannot prompt for the key',
      'pipe the key in: trdr auth login --with-key < key.txt',
    );
  }
  return checkKeyFormat(await readAll(io, LONGEST, signal), 'the key on stdin');
}
