import { Failure } from '../../base/failure.ts';
import {
  type ConfigFile,
  checkKeyFormat,
  DEFAULT_PROFILE,
  noProfile,
  profileOf,
} from './profile.ts';
import {
  readSetting,
  type SettingName,
  type SettingRow,
  type SettingValue,
  settingNames,
  settingRows,
} from './settings-table.ts';

/** `from` is the name of the flag, variable or profile. */
interface Sourced<T> {
  readonly value: T;
  readonly origin: 'flag' | 'environment' | 'profile' | 'default';
  readonly from?: string | undefined;
}

export type SourcedSettings = { readonly [N in SettingName]: Sourced<SettingValue<N>> } & {
  readonly profile: Sourced<string>;
  readonly key: Sourced<string | undefined>;
  readonly storePassword: Sourced<string | undefined>;
  readonly problems: readonly Failure[];
};

export type FlagValues = GivenValues & { readonly profile?: string | undefined };
type GivenValues = { readonly [N in SettingName]?: SettingValue<N> | undefined };

interface Sources {
  readonly flags: FlagValues;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: ConfigFile;
  readonly newProfile?: boolean;
  /** Whether invalid values are skipped, for the commands that repair them. */
  readonly tolerant?: boolean;
}

/** A flag overrides the environment, which overrides the profile, which overrides the default. */
export function resolveSettings({
  flags,
  env,
  file,
  newProfile,
  tolerant,
}: Sources): SourcedSettings {
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
  const named = profile.value;
  const saved = profileOf(file, named);
  if (!saved && !newProfile && (profile.origin === 'flag' || profile.origin === 'environment')) {
    trying(() => {
      throw noProfile(file, named);
    });
  }

  function fromEnv<T>(from: string | undefined, read: (text: string) => T): Sourced<T> | undefined {
    const text = from && env[from];
    const value = text ? trying(() => read(text)) : undefined;
    return value === undefined ? undefined : { value, origin: 'environment', from };
  }

  function fromProfile<T>(name: string, read: (given: unknown) => T): Sourced<T> | undefined {
    const value = saved && Object.hasOwn(saved, name) ? trying(() => read(saved[name])) : undefined;
    return value === undefined ? undefined : { value, origin: 'profile', from: named };
  }

  function settle<N extends SettingName>(name: N): Sourced<SettingValue<N>> {
    const row: SettingRow<unknown> = settingRows[name];
    const flag: SettingValue<N> | undefined = flags[name];
    if (flag !== undefined) {
      // Parsed like text from the other sources, so that a base URL is always normalized.
      const value = typeof flag === 'string' ? readSetting(name, flag, row.flag ?? name) : flag;
      return { value, origin: 'flag', from: row.flag };
    }
    const fix = `run "trdr config set ${name} VALUE --profile ${named}" or "trdr config unset ${name} --profile ${named}"`;
    return (
      fromEnv(row.env, (text) => readSetting(name, text, row.env ?? name)) ??
      fromProfile(name, (given) =>
        readSetting(name, given, `${name} of profile "${named}"`, fix),
      ) ?? {
        value: settingRows[name].fallback as SettingValue<N>,
        origin: 'default',
      }
    );
  }

  const unset = { value: undefined, origin: 'default' } as const;
  const setKey = 'set TRDR_API_KEY to the key exactly as you received it, or unset TRDR_API_KEY';
  const logIn = `run "trdr auth login --profile ${named}" and paste the key exactly as you received it`;
  const values = Object.fromEntries(settingNames.map((name) => [name, settle(name)]));
  return {
    ...(values as { readonly [N in SettingName]: Sourced<SettingValue<N>> }),
    profile,
    key:
      fromEnv('TRDR_API_KEY', (text) => checkKeyFormat(text, 'TRDR_API_KEY', setKey)) ??
      fromProfile('key', (key) =>
        checkKeyFormat(String(key), `the key of profile "${named}"`, logIn),
      ) ??
      unset,
    storePassword:
      fromEnv('TRDR_STORE_PASSWORD', (text) => text) ??
      // A password is sent only to the store for which it was saved.
      (env['TRDR_STORE'] ? undefined : fromProfile('storePassword', String)) ??
      unset,
    problems,
  };
}

function profileNamed(flags: FlagValues, env: Sources['env'], file: ConfigFile): Sourced<string> {
  if (flags.profile !== undefined)
    return { value: flags.profile, origin: 'flag', from: '--profile' };
  const named = env['TRDR_PROFILE'];
  if (named) return { value: named, origin: 'environment', from: 'TRDR_PROFILE' };
  if (file.current !== undefined) return { value: file.current, origin: 'profile' };
  return { value: DEFAULT_PROFILE, origin: 'default' };
}

export const settingList = (settings: SourcedSettings) =>
  settingNames.map((name) => ({ name, ...settings[name] }));
