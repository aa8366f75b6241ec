import { homedir } from 'node:os';
import { once } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import type { ProfileRecord } from '../../contract/records/tool.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import { SavedConfig } from '../../state/config/config.ts';
import {
  type ConfigFile,
  checkKeyFormat,
  emptyConfig,
  keyKind,
  profileOf,
} from '../../state/config/profile.ts';
import {
  type FlagValues,
  resolveSettings,
  type SourcedSettings,
} from '../../state/config/resolve-settings.ts';
import { type SettingValues, settingNames } from '../../state/config/settings-table.ts';
import { type Folders, foldersOf, homeOf } from '../../state/paths.ts';
import type { Globals, OutputFormat } from '../args/common.ts';
import type { Io } from '../io.ts';

type SecretFormat = (text: string, where: string, hint: string) => string;

/** The API key, or the password of the store. */
interface Secret {
  /** Whether it is saved, or a command prints it. */
  readonly isSet: boolean;
  /** The secret, unless its command has not been run. */
  readonly present: string | undefined;
  /** The setting or variable with the command; undefined if there is no command. */
  readonly command?: string | undefined;
  /** Runs the command if there is one: on the first call only, even if it fails. */
  get(): Promise<string | undefined>;
  /** Runs the command again. What it prints is the secret only after `replace`. */
  print?(): Promise<string>;
  replace?(next: string): void;
}

export const knownSecret = (secret: string | undefined): Secret => ({
  isSet: secret !== undefined,
  present: secret,
  get: async () => secret,
});

export interface RunSettings extends SettingValues {
  readonly profile: string;
  readonly key: Secret;
  readonly storePassword: Secret;
  /**
   * The base URL that the profile's key was saved for, if a flag or variable sets a different one
   * for the run.
   */
  readonly keptFor: string | undefined;
  /** The config file, if it has the key and other users can read it. */
  readonly openFile: string | undefined;
  readonly folders: Folders;
}

/** The settings of a run, with what its command line says itself. */
export interface Settings extends RunSettings {
  /** The path of the command, such as `thesis list`. */
  readonly command: string;
  readonly flags: Globals;
  readonly format: OutputFormat;
}

const folders = (io: Pick<Io, 'env' | 'platform' | 'cwd'>): Folders =>
  foldersOf({
    env: io.env,
    platform: io.platform,
    home: homeOf(io.env, io.platform, homedir),
    cwd: io.cwd,
  });

export const configOf = (io: Io) => new SavedConfig(folders(io), io.clock.sleep);

/** The settings that were given as flags. A boolean flag that is false was not given. */
function flagValues(globals: Globals): FlagValues {
  const flags: Readonly<Record<string, unknown>> = globals;
  const set = settingNames.filter((name) => flags[name] !== undefined && flags[name] !== false);
  return {
    profile: globals.profile,
    ...Object.fromEntries(set.map((name) => [name, flags[name]])),
  };
}

/**
 * All settings with their sources. Invalid values are skipped, so that commands can repair them.
 */
export const sourcedSettings = (io: Io, globals: Globals, newProfile = false): SourcedSettings =>
  settle(io, globals, configOf(io).read(), true, newProfile);

/** The name of the profile that a run uses. Invalid settings of the profile are ignored. */
export const profileName = (io: Io, globals: Globals, newProfile = false): string =>
  sourcedSettings(io, globals, newProfile).profile.value;

function settle(
  io: Io,
  globals: Globals,
  file: ConfigFile,
  tolerant: boolean,
  newProfile: boolean,
): SourcedSettings {
  const settings = resolveSettings({
    flags: flagValues(globals),
    env: io.env,
    file,
    tolerant,
    newProfile,
  });
  // Throw even if `tolerant`: an invalid value can be skipped, but an unknown profile has no
  // values.
  const missing = settings.problems.find(({ code }) => code === 'NO_PROFILE');
  if (missing) throw missing;
  return settings;
}

/**
 * `tolerant` skips invalid values, `unread` also an invalid file. Both accept an unknown profile.
 */
export type SettingsUse = 'tolerant' | 'unread';

function readFile(io: Io, tolerant: boolean): ConfigFile {
  try {
    return configOf(io).read();
  } catch (error) {
    if (tolerant && error instanceof Failure) return emptyConfig;
    throw error;
  }
}

function keptFor(from: SourcedSettings, own: unknown): string | undefined {
  const { baseUrl } = from;
  const named = baseUrl.origin === 'flag' || baseUrl.origin === 'environment';
  return keySource(from).origin === 'profile' &&
    named &&
    typeof own === 'string' &&
    own !== baseUrl.value
    ? own
    : undefined;
}

function openFile({ key, keyCommand }: SourcedSettings, io: Io): string | undefined {
  if (key.origin !== 'profile' || key.value === undefined || keyCommand.value !== undefined)
    return undefined;
  const config = configOf(io);
  return config.isReadableByOthers(io.platform) ? config.path : undefined;
}

/** A command that prints the key overrides a saved key, but not one in the environment. */
const keySource = ({ key, keyCommand }: SourcedSettings) =>
  keyCommand.value !== undefined && key.origin !== 'environment' ? keyCommand : key;

const keyOf = ({ key, keyCommand, profile }: SourcedSettings, io: Io): Secret =>
  secretOf(key, keyCommand, `keyCommand of profile "${profile.value}"`, io, checkKeyFormat);

function storePasswordOf(
  { storePassword, storePasswordCommand, store, profile }: SourcedSettings,
  io: Io,
): Secret {
  // The command of a profile prints the password of the store of that profile only.
  const isOther = storePasswordCommand.origin === 'profile' && store.origin !== 'profile';
  if (isOther) return knownSecret(storePassword.value);
  const name = `storePasswordCommand of profile "${profile.value}"`;
  return secretOf(storePassword, storePasswordCommand, name, io, (text) => text);
}

/** Messages name the command by its variable, or by its setting and profile. */
function secretOf(
  own: SourcedSettings['key'],
  { value: line, origin, from }: SourcedSettings['keyCommand'],
  setting: string,
  io: Io,
  read: SecretFormat,
): Secret {
  if (line === undefined || own.origin === 'environment') return knownSecret(own.value);
  const name = (origin === 'environment' && from) || setting;
  return new PrintedSecret(name, async () => {
    // Most runs have a saved key, and Node takes milliseconds to load child processes.
    const { printedSecret } = await import('./secret-command.ts');
    return printedSecret(name, line, io, read);
  });
}

/** The secret that a command prints. It is the same for the whole run, until it is replaced. */
class PrintedSecret implements Secret {
  readonly isSet = true;
  readonly command: string;
  readonly print: () => Promise<string>;
  readonly #first: () => Promise<string>;
  #present: string | undefined;

  constructor(command: string, print: () => Promise<string>) {
    this.command = command;
    this.print = print;
    this.#first = once(print);
  }

  get present(): string | undefined {
    return this.#present;
  }

  async get(): Promise<string> {
    const first = await this.#first();
    this.#present ??= first;
    return this.#present;
  }

  replace(next: string): void {
    this.#present = next;
  }
}

export function loadSettings(io: Io, globals: Globals, use?: SettingsUse): RunSettings {
  const file = readFile(io, use === 'unread');
  const from = settle(io, globals, file, use !== undefined, use !== undefined);
  const values = Object.fromEntries(settingNames.map((name) => [name, from[name].value]));
  return {
    ...(values as unknown as SettingValues),
    profile: from.profile.value,
    key: keyOf(from, io),
    storePassword: storePasswordOf(from, io),
    keptFor: keptFor(from, profileOf(file, from.profile.value)?.['baseUrl']),
    openFile: openFile(from, io),
    folders: folders(io),
  };
}

/**
 * Describes where a value comes from: a flag, a variable, a profile, the config file, or the
 * default.
 */
export function originText({
  origin,
  from,
}: {
  origin: string;
  from?: string | undefined;
}): string {
  if (origin === 'profile' && from !== undefined) return `profile ${from}`;
  return origin === 'profile' ? 'config file' : (from ?? origin);
}

/**
 * A current profile that was never saved is included only if a flag or the environment provides its
 * key or base URL.
 */
export function savedProfiles(current: SourcedSettings, file: ConfigFile, io: Io) {
  const name = current.profile.value;
  const names = Object.keys(file.profiles);
  const isUsed = keySource(current).value !== undefined || current.baseUrl.value !== undefined;
  const all = isUsed && !names.includes(name) ? [name, ...names] : names;
  return all.map((profile) => {
    const from =
      profile === name
        ? current
        : resolveSettings({ flags: { profile }, env: {}, file, tolerant: true });
    return savedProfile(profile, profile === name, from, io);
  });
}

export interface SavedProfile {
  readonly baseUrl: string | undefined;
  readonly key: Secret;
  /** What is printed: it contains the key only masked. */
  readonly record: ProfileRecord;
}

function savedProfile(
  profile: string,
  current: boolean,
  from: SourcedSettings,
  io: Io,
): SavedProfile {
  const { baseUrl } = from;
  const key = keyOf(from, io);
  const kind = key.present === undefined ? 'unknown' : keyKind(key.present);
  const record: ProfileRecord = {
    profile,
    current,
    baseUrl: baseUrl.value ?? null,
    baseUrlFrom: baseUrl.value === undefined ? null : originText(baseUrl),
    key: key.present === undefined ? null : maskKey(key.present),
    keyFrom: key.isSet ? (key.command ?? originText(from.key)) : null,
    mode: kind === 'unknown' ? null : kind,
  };
  return { baseUrl: baseUrl.value, key, record };
}
