import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { Failure, usageError } from '../../base/failure.ts';
import { ensureFolder, fileFailure, isDiskFull } from '../../base/files.ts';
import { withLock } from '../../base/lock.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { baseUrl } from '../../base/url-values.ts';
import { type Folders, needFolder } from '../paths.ts';
import { type ConfigFile, noProfile, type Profile, profileOf, readConfig } from './config-file.ts';
import { checkKeyFormat } from './key-format.ts';
import { needSettingName, storedSetting } from './read-setting.ts';

type Login = ({ readonly key: string } | { readonly keyCommand: string }) & {
  readonly baseUrl?: string | undefined;
};

/** Every change is made under a lock. Nothing is read or created until the first method is called. */
export function openConfig(folders: Folders, sleep?: Clock['sleep']) {
  const path = folders.config && join(folders.config, 'config.json');

  async function change(edit: (file: ConfigFile) => ConfigFile): Promise<void> {
    const folder = needFolder(folders, 'config');
    const file = join(folder, 'config.json');
    try {
      ensureFolder(folder);
      await withLock(
        join(folder, 'config.lock'),
        async () => {
          // Another process may have changed the file.
          const before = readConfig(file);
          const after = edit(before);
          if (after !== before)
            writeAtomic(file, `${JSON.stringify(after, undefined, 2)}\n`, { temporary: `${file}.tmp` });
        },
        sleep && { sleep },
      );
    } catch (error) {
      if (error instanceof Failure || (error instanceof Error && error.name === 'AbortError')) throw error;
      const hint = isDiskFull(error)
        ? 'free some disk space, then run the command again'
        : 'set TRDR_CONFIG_DIR to a folder that you own';
      throw fileFailure('write the settings in', file, error, hint);
    }
  }

  async function changeProfile(name: string, edit: (profile: Profile) => Profile): Promise<boolean> {
    let changed = false;
    await change((file) => {
      const before = profileOf(file, name) ?? {};
      const after = edit(before);
      changed = after !== before;
      if (!changed) return file;
      return { ...file, profiles: { ...file.profiles, [name]: after } };
    });
    return changed;
  }

  return {
    path,
    read: () => readConfig(path),
    /** The profile becomes the current one if the current profile has no login. */
    async login(name: string, given: Login): Promise<void> {
      checkProfileName(name);
      const key =
        'key' in given
          ? { key: checkKeyFormat(given.key) }
          : { keyCommand: storedSetting('keyCommand', given.keyCommand) };
      const address = given.baseUrl === undefined ? undefined : baseUrl.read(given.baseUrl);
      if (given.baseUrl !== undefined && address === undefined) {
        throw usageError('invalid base URL', baseUrl.hint);
      }
      await change((file) => {
        const profile = {
          ...withoutLogin(profileOf(file, name)),
          ...key,
          ...(address !== undefined && { baseUrl: address }),
        };
        const current = file.current !== undefined && hasLogin(profileOf(file, file.current));
        return {
          ...file,
          current: current ? file.current : name,
          profiles: { ...file.profiles, [name]: profile },
        };
      });
    },
    /** Without a password, removes the saved password. */
    async storeLogin(
      name: string,
      { store: address, password }: { readonly store: string; readonly password: string | undefined },
    ): Promise<void> {
      checkProfileName(name);
      const store = storedSetting('store', address);
      await changeProfile(name, ({ storePassword: _, ...profile }) => ({
        ...profile,
        store,
        ...(password !== undefined && { storePassword: password }),
      }));
    },
    /** False if the profile had no key. */
    async logout(name: string): Promise<boolean> {
      return changeProfile(name, (profile) => {
        return hasLogin(profile) ? withoutLogin(profile) : profile;
      });
    },
    async use(name: string): Promise<void> {
      await change((file) => {
        if (profileOf(file, name) === undefined) throw noProfile(file, name);
        return { ...file, current: name };
      });
    },
    /** False if the profile does not exist. */
    async remove(name: string): Promise<boolean> {
      let removed = false;
      await change((file) => {
        removed = profileOf(file, name) !== undefined;
        if (!removed) return file;
        const { [name]: _, ...profiles } = file.profiles;
        const { current, ...rest } = file;
        return { ...rest, ...(current !== undefined && current !== name && { current }), profiles };
      });
      return removed;
    },
    async set(name: string, setting: string, value: string): Promise<void> {
      checkProfileName(name);
      const known = needSettingName(setting);
      const stored = storedSetting(known, value);
      await changeProfile(name, (profile) => ({ ...profile, [known]: stored }));
    },
    /** False if the setting was not set. */
    async unset(name: string, setting: string): Promise<boolean> {
      const known = needSettingName(setting);
      return changeProfile(name, (profile) => {
        if (!Object.hasOwn(profile, known)) return profile;
        const { [known]: _, ...rest } = profile;
        return rest;
      });
    },
  };
}

function checkProfileName(name: string): void {
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
