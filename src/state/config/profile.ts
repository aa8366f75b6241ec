import { Failure } from '../../base/failure.ts';
import { didYouMean } from '../../base/suggest.ts';
import { trimText } from '../../base/trim-text.ts';

export const CONFIG_VERSION = 1;

/** Settings are kept as the user wrote them; `settings-table.ts` reads them. */
export interface Profile {
  [setting: string]: unknown;
  key?: string | undefined;
  storePassword?: string | undefined;
}

export interface ConfigFile {
  [member: string]: unknown;
  version: typeof CONFIG_VERSION;
  current?: string | undefined;
  profiles: Record<string, Profile>;
}

export const emptyConfig: ConfigFile = { version: CONFIG_VERSION, profiles: {} };
export const DEFAULT_PROFILE = 'default';

export const profileOf = (file: ConfigFile, name: string): Profile | undefined =>
  Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;

export const noProfile = ({ profiles }: ConfigFile, name: string): Failure =>
  new Failure('usage', `unknown profile "${name}"`, {
    code: 'NO_PROFILE',
    hint: profileHint(name, Object.keys(profiles)),
  });

function profileHint(name: string, names: readonly string[]): string {
  if (names.length === 0) return 'no profiles are saved yet: run "trdr auth login"';
  const near = didYouMean(name, names, (other) => `"${other}"`);
  const all = `available profiles: ${names.join(', ')}; "trdr auth login --profile NAME" creates another`;
  return near === '' ? all : `${near} ${all}`;
}

type KeyKind = 'live' | 'test' | 'unknown';

export function keyKind(key: string): KeyKind {
  const kind = /^[A-Za-z0-9]+_(live|test)_/.exec(key)?.[1];
  return kind === 'live' || kind === 'test' ? kind : 'unknown';
}

/** What to do about a text that cannot be a key, by default that of any profile. */
export function pasteKey(profile?: string): string {
  const flag = profile === undefined ? '' : ` --profile ${profile}`;
  return `run "trdr auth login${flag}" and paste the key exactly as you received it`;
}

/** Only the service can decide whether the key is valid. */
export function checkKeyFormat(text: string, where = 'the key', hint = pasteKey()): string {
  const key = trimText(text);
  // Files such as those of `docker run --env-file` keep the quotes around a value.
  if (/^(["']).*\1$/.test(key)) {
    throw new Failure('auth', `${where} is in quotes`, {
      code: 'BAD_KEY',
      hint: 'remove the quotes around the key',
    });
  }
  // Other characters are not allowed in an HTTP header.
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw new Failure('auth', key === '' ? `${where} is empty` : `${where} has invalid characters`, {
    code: 'BAD_KEY',
    hint,
  });
}
