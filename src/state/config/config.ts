import { dirname, join } from 'node:path';
import type Conf from 'conf';
import * as z from 'zod/mini';
import type { Clock } from '../../base/clock.ts';
import { Failure, usageError } from '../../base/failure.ts';
import {
  ensureFolder,
  errno,
  fileFailure,
  isDiskFull,
  readBounded,
  statsOf,
} from '../../base/files.ts';
import { withLock } from '../../base/lock.ts';
import { type Folders, needFolder } from '../paths.ts';
import {
  CONFIG_VERSION,
  type ConfigFile,
  checkKeyFormat,
  emptyConfig,
  noProfile,
  type Profile,
  profileOf,
} from './profile.ts';
import { needSettingName, storedSetting } from './settings-table.ts';

type Login = ({ readonly key: string } | { readonly keyCommand: string }) & {
  readonly baseUrl?: string | undefined;
};

/**
 * Changes the settings, and returns what the change is about. `open` gives the file to write to.
 */
type Edit<R> = (file: ConfigFile, open: () => Conf<ConfigFile>) => R;

/**
 * The saved settings. Every change is made under a lock. Nothing is read or created until the first
 * method is called.
 */
export class SavedConfig {
  /** Undefined if the folder is not known. */
  readonly path: string | undefined;
  readonly #folders: Folders;
  readonly #sleep: Clock['sleep'] | undefined;

  constructor(folders: Folders, sleep?: Clock['sleep']) {
    this.path = folders.config && join(folders.config, 'config.json');
    this.#folders = folders;
    this.#sleep = sleep;
  }

  read(): ConfigFile {
    return readConfig(this.path);
  }

  /** Whether other users can read the file; false on Windows, which has no such permissions. */
  isReadableByOthers(platform: NodeJS.Platform): boolean {
    const mode = (this.path && statsOf(this.path)?.mode) || 0;
    return platform !== 'win32' && (mode & 0o077) !== 0;
  }

  /** Saves a login. The profile becomes the current one if the current profile has no login. */
  async login(name: string, login: Login): Promise<void> {
    checkProfileName(name);
    const stored = storedLogin(login);
    await this.#change((file, open) => {
      const profile = { ...withoutLogin(profileOf(file, name)), ...stored };
      const { current } = file;
      const isUsable = current !== undefined && hasLogin(profileOf(file, current));
      open().set({
        profiles: { ...file.profiles, [name]: profile },
        current: isUsable ? current : name,
      });
    });
  }

  /** Saves the address of a store and its password. Without a password, removes the saved one. */
  async storeLogin(
    name: string,
    { store: address, password }: { readonly store: string; readonly password: string | undefined },
  ): Promise<void> {
    checkProfileName(name);
    const store = storedSetting('store', address);
    await this.#changeProfile(name, ({ storePassword: _, ...profile }) => ({
      ...profile,
      store,
      ...(password !== undefined && { storePassword: password }),
    }));
  }

  /** Removes the key of a profile. False if it had none. */
  logout(name: string): Promise<boolean> {
    return this.#changeProfile(name, (profile) =>
      hasLogin(profile) ? withoutLogin(profile) : profile,
    );
  }

  async use(name: string): Promise<void> {
    await this.#change((file, open) => {
      if (profileOf(file, name) === undefined) throw noProfile(file, name);
      open().set('current', name);
    });
  }

  /** Removes a profile. False if it does not exist. */
  remove(name: string): Promise<boolean> {
    return this.#change((file, open) => {
      if (profileOf(file, name) === undefined) return false;
      const { [name]: _, ...profiles } = file.profiles;
      const conf = open();
      // First, because a kill in between must not leave the name of a profile that is gone.
      if (file.current === name) conf.delete('current');
      conf.set('profiles', profiles);
      return true;
    });
  }

  async set(name: string, setting: string, value: string): Promise<void> {
    checkProfileName(name);
    const settingName = needSettingName(setting);
    const stored = storedSetting(settingName, value);
    await this.#changeProfile(name, (profile) => ({ ...profile, [settingName]: stored }));
  }

  /** Removes a setting of a profile. False if it was not set. */
  async unset(name: string, setting: string): Promise<boolean> {
    const settingName = needSettingName(setting);
    return this.#changeProfile(name, (profile) => {
      if (!Object.hasOwn(profile, settingName)) return profile;
      const { [settingName]: _, ...rest } = profile;
      return rest;
    });
  }

  /** False if `edit` returns the same profile. */
  #changeProfile(name: string, edit: (profile: Profile) => Profile): Promise<boolean> {
    return this.#change((file, open) => {
      const before = profileOf(file, name) ?? {};
      const after = edit(before);
      if (after === before) return false;
      open().set('profiles', { ...file.profiles, [name]: after });
      return true;
    });
  }

  async #change<R>(edit: Edit<R>): Promise<R> {
    const folder = needFolder(this.#folders, 'config');
    const file = join(folder, 'config.json');
    // Only a run that saves something loads conf.
    const { editFile } = await import('./edit-file.ts');
    const shape = { empty: emptyConfig, parse: (text: string) => parseConfig(text, file) };
    const change = () => {
      // Another process may have changed the file. conf would wait for a FIFO, and quote a broken
      // file.
      const before = readConfig(file);
      return editFile(file, shape, (open) => edit(before, open));
    };
    const waiting = this.#sleep && { sleep: this.#sleep };
    try {
      ensureFolder(folder);
      return await withLock(join(folder, 'config.lock'), change, waiting);
    } catch (error) {
      throw changeFailure(file, error);
    }
  }
}

function storedLogin(login: Login): Profile {
  const stored =
    'key' in login
      ? { key: checkKeyFormat(login.key) }
      : { keyCommand: storedSetting('keyCommand', login.keyCommand) };
  if (login.baseUrl === undefined) return stored;
  return { ...stored, baseUrl: storedSetting('baseUrl', login.baseUrl) };
}

function changeFailure(file: string, error: unknown): unknown {
  const isKnown = error instanceof Failure;
  if (isKnown || (error instanceof Error && error.name === 'AbortError')) return error;
  const hint = isDiskFull(error)
    ? 'free some disk space, then run the command again'
    : 'set TRDR_CONFIG_DIR to a folder that you own';
  return fileFailure('write the settings in', file, error, hint);
}

export function checkProfileName(name: string): void {
  if (/^[A-Za-z0-9][\w.@-]{0,63}$/.test(name)) return;
  throw usageError(
    'invalid profile name',
    'use letters, digits and . _ @ -, at most 64 characters, starting with a letter or digit',
  );
}

const hasLogin = (profile: Profile | undefined): boolean =>
  profile?.key !== undefined || profile?.['keyCommand'] !== undefined;

function withoutLogin({ key: _, keyCommand: __, ...rest }: Profile = {}): Profile {
  return rest;
}

const LARGEST = 1024 * 1024;

/** Created only when a file is read, because many runs read none. */
function makeSchemas() {
  const Profile = z.looseObject({
    key: z.optional(z.string()),
    storePassword: z.optional(z.string()),
  });
  const ConfigFile = z.looseObject({
    version: z.literal(CONFIG_VERSION),
    current: z.optional(z.string()),
    profiles: z.record(z.string(), Profile),
  });
  return { ConfigFile, AnyVersion: z.looseObject({ version: z.number() }) };
}

/** A missing or empty file is a config without settings. */
export function readConfig(path: string | undefined): ConfigFile {
  if (path === undefined) return emptyConfig;
  let text: string | undefined;
  try {
    text = readBounded(path, LARGEST);
  } catch (error) {
    // The usual hint, to move the file away, would fail for a file of another user.
    const isForeign = errno(error) === 'EACCES' || errno(error) === 'EPERM';
    throw fileFailure(
      'read the settings in',
      path,
      error,
      isForeign ? ownFolder(path) : moveAway(path),
    );
  }
  return text === undefined ? emptyConfig : parseConfig(text, path);
}

/** Error messages never quote the text, because it contains keys. @internal Exported for tests. */
export function parseConfig(content: string, path: string): ConfigFile {
  // Editors on Windows add a byte order mark.
  const text = content.replace(/^\uFEFF/, '');
  if (text.trim() === '') return emptyConfig;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw corrupt(path, `not valid JSON${lineOf(text, error)}`);
  }
  const { AnyVersion, ConfigFile } = makeSchemas();
  const version = AnyVersion.safeParse(value).data?.version;
  if (version !== undefined && version > CONFIG_VERSION) {
    throw new Failure(
      'local',
      `${path} was written by a newer version of trdr (format version ${version})`,
      {
        code: 'CONFIG_NEWER',
        hint: 'upgrade trdr, or set TRDR_CONFIG_DIR to a different folder',
      },
    );
  }
  const result = ConfigFile.safeParse(value);
  if (result.success) return result.data;
  const at = result.error.issues[0]?.path[0];
  throw corrupt(path, at === undefined ? 'not a config file' : `invalid value for "${String(at)}"`);
}

const ownFolder = (path: string) =>
  `take ownership: sudo chown -R "$(id -u)" '${dirname(path)}'; or set TRDR_CONFIG_DIR to a folder that you own`;

const moveAway = (path: string) =>
  `fix it by hand, or move it away and log in again: mv '${path}' '${path}.broken' && trdr auth login`;

const corrupt = (path: string, why: string) =>
  new Failure('local', `cannot read the settings in ${path}: ${why}`, {
    code: 'CONFIG_CORRUPT',
    hint: moveAway(path),
  });

/** JavaScript's message quotes the text around the error, which may contain an API key. */
function lineOf(text: string, error: unknown): string {
  const at = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return at === undefined ? '' : ` (line ${text.slice(0, Number(at)).split('\n').length})`;
}
