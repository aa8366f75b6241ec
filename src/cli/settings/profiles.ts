import type { ProfileRecord } from '../../contract/records/tool.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import { type ConfigFile, keyKind } from '../../state/config/config.ts';
import { resolveSettings, type Settings as Sourced } from '../../state/config/resolve-settings.ts';
import type { Io } from '../io.ts';
import { keyOf, keySource } from './settings.ts';

/** Describes where a value comes from: a flag, a variable, a profile, the config file, or the default. */
export function originText({ origin, from }: { origin: string; from?: string | undefined }): string {
  if (origin === 'profile' && from !== undefined) return `profile ${from}`;
  return origin === 'profile' ? 'config file' : (from ?? origin);
}

/** A current profile that was never saved is included only if a flag or the environment provides its key or base URL. */
export function savedProfiles(current: Sourced, file: ConfigFile, io: Io) {
  const name = current.profile.value;
  const names = Object.keys(file.profiles);
  const isUsed = keySource(current).value !== undefined || current.baseUrl.value !== undefined;
  const all = isUsed && !names.includes(name) ? [name, ...names] : names;
  return all.map((profile) => {
    const from =
      profile === name ? current : resolveSettings({ flags: { profile }, env: {}, file, tolerant: true });
    return savedProfile(profile, profile === name, from, io);
  });
}

export type SavedProfile = ReturnType<typeof savedProfile>;

/** `record` contains the key only masked; `key` is the key itself. */
function savedProfile(profile: string, current: boolean, from: Sourced, io: Io) {
  const { baseUrl } = from;
  const key = keyOf(from, io);
  const kind = key.known === undefined ? 'unknown' : keyKind(key.known);
  const record: ProfileRecord = {
    profile,
    current,
    baseUrl: baseUrl.value ?? null,
    baseUrlFrom: baseUrl.value === undefined ? null : originText(baseUrl),
    key: key.known === undefined ? null : maskKey(key.known),
    keyFrom: key.isSet ? (key.command ?? originText(from.key)) : null,
    mode: kind === 'unknown' ? null : kind,
  };
  return { baseUrl: baseUrl.value, key, record };
}
