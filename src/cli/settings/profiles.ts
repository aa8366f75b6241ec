import type { ProfileRecord } from '../../contract/records/tool.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import type { ConfigFile } from '../../state/config/config-file.ts';
import { keyKind } from '../../state/config/key-format.ts';
import { resolveSettings, type Settings as Sourced } from '../../state/config/resolve-settings.ts';

/** Describes where a value comes from: a flag, a variable, a profile, the config file, or the default. */
export function originText({ origin, from }: { origin: string; from?: string | undefined }): string {
  if (origin === 'profile' && from !== undefined) return `profile ${from}`;
  return origin === 'profile' ? 'config file' : (from ?? origin);
}

/** A profile. `record` contains the key only masked; `key` is the key itself. */
export interface SavedProfile {
  readonly record: ProfileRecord;
  readonly baseUrl: string | undefined;
  readonly key: string | undefined;
}

/**
 * The current profile with its effective values, and all other profiles as saved. A current profile that was
 * never saved is included only if the environment or a flag provides its key or base URL.
 */
export function savedProfiles(current: Sourced, file: ConfigFile): SavedProfile[] {
  const name = current.profile.value;
  const names = Object.keys(file.profiles);
  const isUsed =
    names.includes(name) || current.key.value !== undefined || current.baseUrl.value !== undefined;
  const all = isUsed && !names.includes(name) ? [name, ...names] : names;
  return all.map((profile) =>
    profile === name
      ? profileRecord(profile, true, current)
      : profileRecord(profile, false, resolveSettings({ flags: { profile }, env: {}, file, tolerant: true })),
  );
}

function profileRecord(profile: string, current: boolean, { baseUrl, key }: Sourced): SavedProfile {
  const kind = key.value === undefined ? 'unknown' : keyKind(key.value);
  return {
    baseUrl: baseUrl.value,
    key: key.value,
    record: {
      profile,
      current,
      baseUrl: baseUrl.value ?? null,
      baseUrlFrom: baseUrl.value === undefined ? null : originText(baseUrl),
      key: key.value === undefined ? null : maskKey(key.value),
      keyFrom: key.value === undefined ? null : originText(key),
      mode: kind === 'unknown' ? null : kind,
    },
  };
}
