import { homedir } from 'node:os';
import { Failure } from '../../base/failure.ts';
import { didYouMean } from '../../output/suggest.ts';
import {
  type ConfigFile,
  checkKeyFormat,
  emptyConfig,
  openConfig,
  profileOf,
} from '../../state/config/config.ts';
import {
  type FlagValues,
  resolveSettings,
  type Settings as Sourced,
} from '../../state/config/resolve-settings.ts';
import { type SettingValues, settingNames } from '../../state/config/settings-table.ts';
import { type Folders, foldersOf, homeOf } from '../../state/paths.ts';
import type { Globals } from '../args/common.ts';
import type { Io } from '../io.ts';
import { commandSecret, knownSecret, type Secret, type SecretFormat } from './secret.ts';

export interface RunSettings extends SettingValues {
  readonly profile: string;
  readonly key: Secret;
  readonly storePassword: Secret;
  /** The base URL that the profile's key was saved for, if a flag or variable sets a different one for the run. */
  readonly keptFor: string | undefined;
  readonly folders: Folders;
}

const folders = (io: Pick<Io, 'env' | 'platform' | 'cwd'>): Folders =>
  foldersOf({
    env: io.env,
    platform: io.platform,
    home: homeOf(io.env, io.platform, homedir),
    cwd: io.cwd,
  });

export const configOf = (io: Io) => openConfig(folders(io), io.clock.sleep);

/** The settings that were given as flags. A boolean flag that is false was not given. */
function flagValues(globals: Globals): FlagValues {
  const given: Readonly<Record<string, unknown>> = globals;
  const set = settingNames.filter((name) => given[name] !== undefined && given[name] !== false);
  return { profile: globals.profile, ...Object.fromEntries(set.map((name) => [name, given[name]])) };
}

interface Reading {
  readonly tolerant?: boolean;
  readonly newProfile?: boolean;
}

/** All settings with their sources. With `tolerant`, invalid values are skipped, so that commands can repair them. */
export const sourcedSettings = (io: Io, globals: Globals, how: Reading = {}): Sourced =>
  settle(io, globals, configOf(io).read(), how);

/** The name of the profile that a run uses. Invalid settings of the profile are ignored. */
export const profileName = (io: Io, globals: Globals, how: Pick<Reading, 'newProfile'> = {}): string =>
  sourcedSettings(io, globals, { ...how, tolerant: true }).profile.value;

function settle(io: Io, globals: Globals, file: ConfigFile, how: Reading): Sourced {
  try {
    const settings = resolveSettings({ flags: flagValues(globals), env: io.env, file, ...how });
    // Throw even if `tolerant`: an invalid value can be skipped, but an unknown profile has no values.
    const missing = settings.problems.find(({ code }) => code === 'NO_PROFILE');
    if (missing) throw missing;
    return settings;
  } catch (error) {
    throw withNearProfile(error, Object.keys(file.profiles));
  }
}

/** Adds a suggestion of a similar name to the failure for a missing profile. */
export function withNearProfile(error: unknown, names: readonly string[]): unknown {
  if (!(error instanceof Failure) || error.code !== 'NO_PROFILE') return error;
  const near = didYouMean(/"(.*)"/.exec(error.message)?.[1] ?? '', names, (name) => `"${name}"`);
  if (near === '') return error;
  return new Failure(error.kind, error.message, { code: error.code, hint: `${near} ${error.hint}` });
}

/** `tolerant` skips invalid values, `unread` also an invalid file, `none` does not read it. All accept an unknown profile. */
export type SettingsUse = 'tolerant' | 'unread' | 'none';

function readFile(io: Io, tolerant: boolean): ConfigFile {
  try {
    return configOf(io).read();
  } catch (error) {
    if (tolerant && error instanceof Failure) return emptyConfig;
    throw error;
  }
}

function keptFor(from: Sourced, own: unknown): string | undefined {
  const { baseUrl } = from;
  const named = baseUrl.origin === 'flag' || baseUrl.origin === 'environment';
  return keySource(from).origin === 'profile' && named && typeof own === 'string' && own !== baseUrl.value
    ? own
    : undefined;
}

/** Whether a command prints the secret: it overrides a saved secret, but not one in the environment. */
const isPrinted = (own: Sourced['key'], command: Sourced['keyCommand']) =>
  command.value !== undefined && own.origin !== 'environment';

export const keySource = ({ key, keyCommand }: Sourced) => (isPrinted(key, keyCommand) ? keyCommand : key);

export const keyOf = ({ key, keyCommand, profile }: Sourced, io: Io): Secret =>
  secretOf(key, keyCommand, `keyCommand of profile "${profile.value}"`, io, checkKeyFormat);

function storePasswordOf({ storePassword, storePasswordCommand, store, profile }: Sourced, io: Io): Secret {
  // The command of a profile prints the password of the store of that profile only.
  const isOther = storePasswordCommand.origin === 'profile' && store.origin !== 'profile';
  if (isOther) return knownSecret(storePassword.value);
  const name = `storePasswordCommand of profile "${profile.value}"`;
  return secretOf(storePassword, storePasswordCommand, name, io, (text) => text);
}

/** Messages name the command by its variable, or by its setting and profile. */
function secretOf(
  own: Sourced['key'],
  command: Sourced['keyCommand'],
  name: string,
  io: Io,
  read: SecretFormat,
): Secret {
  const { value, origin, from } = command;
  if (value === undefined || !isPrinted(own, command)) return knownSecret(own.value);
  return commandSecret((origin === 'environment' && from) || name, value, io, read);
}

export function loadSettings(io: Io, globals: Globals, use?: SettingsUse): RunSettings {
  const file = use === 'none' ? emptyConfig : readFile(io, use === 'unread');
  const from = settle(io, globals, file, use === undefined ? {} : { tolerant: true, newProfile: true });
  const values = Object.fromEntries(settingNames.map((name) => [name, from[name].value]));
  return {
    ...(values as unknown as SettingValues),
    profile: from.profile.value,
    key: keyOf(from, io),
    storePassword: storePasswordOf(from, io),
    keptFor: keptFor(from, profileOf(file, from.profile.value)?.['baseUrl']),
    folders: folders(io),
  };
}
