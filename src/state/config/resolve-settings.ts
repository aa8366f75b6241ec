import { Failure } from '../../base/failure.ts';
import {
  type ConfigFile,
  checkKeyFormat,
  DEFAULT_PROFILE,
  noProfile,
  type Profile,
  pasteKey,
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
export function resolveSettings(sources: Sources): SourcedSettings {
  return new Resolution(sources).settings();
}

const unset = { value: undefined, origin: 'default' } as const;

/** The settings of one run, and what is wrong with them. */
class Resolution {
  readonly #sources: Sources;
  readonly #profile: Sourced<string>;
  readonly #saved: Profile | undefined;
  readonly #problems: Failure[] = [];

  constructor(sources: Sources) {
    const { flags, env, file, newProfile } = sources;
    this.#sources = sources;
    this.#profile = profileNamed(flags, env, file);
    const { value: name, origin } = this.#profile;
    this.#saved = profileOf(file, name);
    const isNamed = origin === 'flag' || origin === 'environment';
    if (!this.#saved && !newProfile && isNamed) this.#report(noProfile(file, name));
  }

  settings(): SourcedSettings {
    const values = Object.fromEntries(settingNames.map((name) => [name, this.#settle(name)]));
    return {
      ...(values as { readonly [N in SettingName]: Sourced<SettingValue<N>> }),
      profile: this.#profile,
      key: this.#key(),
      storePassword: this.#storePassword(),
      problems: this.#problems,
    };
  }

  #settle<N extends SettingName>(name: N): Sourced<SettingValue<N>> {
    const row: SettingRow<unknown> = settingRows[name];
    const flag: SettingValue<N> | undefined = this.#sources.flags[name];
    if (flag !== undefined) {
      // Parsed like text from the other sources, so that a base URL is always normalized.
      const value = typeof flag === 'string' ? readSetting(name, flag, row.flag ?? name) : flag;
      return { value, origin: 'flag', from: row.flag };
    }
    const profile = this.#profile.value;
    const fix = savedSettingHint(name, profile);
    const where = `${name} of profile "${profile}"`;
    return (
      this.#fromEnv(row.env, (text) => readSetting(name, text, row.env ?? name)) ??
      this.#fromProfile(name, (value) => readSetting(name, value, where, fix)) ?? {
        value: settingRows[name].fallback as SettingValue<N>,
        origin: 'default',
      }
    );
  }

  #key(): Sourced<string | undefined> {
    const profile = this.#profile.value;
    const setKey = 'set TRDR_API_KEY to the key exactly as you received it, or unset TRDR_API_KEY';
    const where = `the key of profile "${profile}"`;
    return (
      this.#fromEnv('TRDR_API_KEY', (text) => checkKeyFormat(text, 'TRDR_API_KEY', setKey)) ??
      this.#fromProfile('key', (key) => checkKeyFormat(String(key), where, pasteKey(profile))) ??
      unset
    );
  }

  /** A saved password is sent only to the store for which it was saved. */
  #storePassword(): Sourced<string | undefined> {
    const password = this.#fromEnv('TRDR_STORE_PASSWORD', (text) => text);
    if (password) return password;
    if (this.#sources.env['TRDR_STORE']) return unset;
    return this.#fromProfile('storePassword', String) ?? unset;
  }

  #fromEnv<T>(from: string | undefined, read: (text: string) => T): Sourced<T> | undefined {
    const text = from && this.#sources.env[from];
    const value = text ? this.#try(() => read(text)) : undefined;
    return value === undefined ? undefined : { value, origin: 'environment', from };
  }

  #fromProfile<T>(name: string, read: (value: unknown) => T): Sourced<T> | undefined {
    const saved = this.#saved;
    const isSet = saved !== undefined && Object.hasOwn(saved, name);
    const value = isSet ? this.#try(() => read(saved[name])) : undefined;
    return value === undefined
      ? undefined
      : { value, origin: 'profile', from: this.#profile.value };
  }

  #try<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  /** The commands that repair settings skip invalid ones; for all others they are errors. */
  #report(error: unknown): void {
    if (!this.#sources.tolerant || !(error instanceof Failure)) throw error;
    this.#problems.push(error);
  }
}

function savedSettingHint(name: SettingName, profile: string): string {
  const flag = ` --profile ${profile}`;
  if (name === 'budgetDay' || name === 'budgetMonth') {
    const period = name === 'budgetDay' ? 'day' : 'month';
    return `run "trdr budget unset ${period}${flag}", and set it again`;
  }
  return `run "trdr config set ${name} VALUE${flag}" or "trdr config unset ${name}${flag}"`;
}

function profileNamed(flags: FlagValues, env: Sources['env'], file: ConfigFile): Sourced<string> {
  if (flags.profile !== undefined)
    return { value: flags.profile, origin: 'flag', from: '--profile' };
  const named = env['TRDR_PROFILE'];
  if (named) return { value: named, origin: 'environment', from: 'TRDR_PROFILE' };
  if (file.current !== undefined) return { value: file.current, origin: 'profile' };
  return { value: DEFAULT_PROFILE, origin: 'default' };
}
