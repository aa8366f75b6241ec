import { Failure } from '../../base/failure.ts';
import { type ConfigFile, DEFAULT_PROFILE, noProfile, type Profile, profileOf } from './config-file.ts';
import { checkKeyFormat } from './key-format.ts';
import { readSetting } from './read-setting.ts';
import {
  type SettingName,
  type SettingRow,
  type SettingValue,
  settingNames,
  settingRows,
} from './settings-table.ts';

type Origin = 'flag' | 'environment' | 'profile' | 'default';

/** `from` is the name of the flag, variable or profile. */
interface Sourced<T> {
  readonly value: T;
  readonly origin: Origin;
  readonly from?: string | undefined;
}

export type Settings = { readonly [N in SettingName]: Sourced<SettingValue<N>> } & {
  readonly profile: Sourced<string>;
  readonly key: Sourced<string | undefined>;
  readonly storePassword: Sourced<string | undefined>;
  /** Values that were skipped; always empty without `tolerant`. */
  readonly problems: readonly Failure[];
};

export type FlagValues = GivenValues & { readonly profile?: string | undefined };
type GivenValues = { readonly [N in SettingName]?: SettingValue<N> | undefined };

interface Sources {
  readonly flags: FlagValues;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: ConfigFile;
  /** Whether a profile that does not exist yet is accepted. */
  readonly newProfile?: boolean;
  /** Whether invalid values are skipped, for the commands that repair them. */
  readonly tolerant?: boolean;
}

/** A flag overrides the environment, which overrides the profile, which overrides the default. */
export function resolveSettings({ flags, env, file, newProfile, tolerant }: Sources): Settings {
  const problems: Failure[] = [];
  const trying = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!tolerant || !(error instanceof Failure)) throw error;
      problems.push(error);
      return undefined;
    }
  };
  const profile = profileNamed(flags, env, file);
  const savedProfile = profileOf(file, profile.value);
  if (!savedProfile && !newProfile && (profile.origin === 'flag' || profile.origin === 'environment')) {
    trying(() => {
      throw noProfile(file, profile.value);
    });
  }
  const one = <N extends SettingName>(name: N) =>
    settle(name, flags, env, savedProfile, profile.value, trying);
  const values = Object.fromEntries(settingNames.map((name) => [name, one(name)]));
  return {
    ...(values as { readonly [N in SettingName]: Sourced<SettingValue<N>> }),
    profile,
    key: keyOf(env, savedProfile, profile.value, trying),
    storePassword: storePasswordOf(env, savedProfile, profile.value),
    problems,
  };
}

function profileNamed(flags: FlagValues, env: Sources['env'], file: ConfigFile): Sourced<string> {
  if (flags.profile !== undefined) return { value: flags.profile, origin: 'flag', from: '--profile' };
  const named = env['TRDR_PROFILE'];
  if (named) return { value: named, origin: 'environment', from: 'TRDR_PROFILE' };
  if (file.current !== undefined) return { value: file.current, origin: 'profile' };
  return { value: DEFAULT_PROFILE, origin: 'default' };
}

type Trying = <T>(read: () => T) => T | undefined;

function settle<N extends SettingName>(
  name: N,
  flags: GivenValues,
  env: Sources['env'],
  savedProfile: Profile | undefined,
  profile: string,
  trying: Trying,
): Sourced<SettingValue<N>> {
  const row: SettingRow<unknown> = settingRows[name];
  const flag: SettingValue<N> | undefined = flags[name];
  if (flag !== undefined) {
    // Parsed like text from the other sources, so that a base URL is always normalized.
    const value = typeof flag === 'string' ? readSetting(name, flag, row.flag ?? name) : flag;
    return { value, origin: 'flag', from: row.flag };
  }
  const text = row.env && env[row.env];
  if (text) {
    const value = trying(() => readSetting(name, text, row.env ?? name));
    if (value !== undefined) return { value, origin: 'environment', from: row.env };
  }
  if (savedProfile && Object.hasOwn(savedProfile, name)) {
    const fix = `run "trdr config set ${name} VALUE --profile ${profile}" or "trdr config unset ${name} --profile ${profile}"`;
    const value = trying(() => readSetting(name, savedProfile[name], `${name} of profile "${profile}"`, fix));
    if (value !== undefined) return { value, origin: 'profile', from: profile };
  }
  return { value: settingRows[name].fallback as SettingValue<N>, origin: 'default' };
}

function keyOf(
  env: Sources['env'],
  savedProfile: Profile | undefined,
  profile: string,
  trying: Trying,
): Sourced<string | undefined> {
  const text = env['TRDR_API_KEY'];
  if (text) {
    const fix = 'set TRDR_API_KEY to the key exactly as you received it, or unset TRDR_API_KEY';
    const value = trying(() => checkKeyFormat(text, 'TRDR_API_KEY', fix));
    if (value !== undefined) return { value, origin: 'environment', from: 'TRDR_API_KEY' };
  }
  const savedKey = savedProfile?.key;
  if (savedKey !== undefined) {
    const fix = `run "trdr auth login --profile ${profile}" and paste the key exactly as you received it`;
    const value = trying(() => checkKeyFormat(savedKey, `the key of profile "${profile}"`, fix));
    if (value !== undefined) return { value, origin: 'profile', from: profile };
  }
  return { value: undefined, origin: 'default' };
}

function storePasswordOf(
  env: Sources['env'],
  savedProfile: Profile | undefined,
  profile: string,
): Sourced<string | undefined> {
  const given = env['TRDR_STORE_PASSWORD'];
  if (given) return { value: given, origin: 'environment', from: 'TRDR_STORE_PASSWORD' };
  const savedPassword = savedProfile?.storePassword;
  // A password is sent only to the store for which it was saved.
  if (savedPassword !== undefined && !env['TRDR_STORE'])
    return { value: savedPassword, origin: 'profile', from: profile };
  return { value: undefined, origin: 'default' };
}

export const settingList = (settings: Settings) => settingNames.map((name) => ({ name, ...settings[name] }));
