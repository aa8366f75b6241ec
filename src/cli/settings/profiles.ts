import type { ProfileRecord } from '../../contract/records/tool.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import { type ConfigFile, keyKind } from '../../state/config/config.ts';
import { resolveSettings, type Settings as Sourced } from '../../state/config/resolve-settings.ts';
import type { Io } from '../io.ts';
import type { Secret } from './secret.ts';
import { keyOf, keySource } from './settings.ts';

/** Describes where a value comes from: a flag, a variable, a profile, the config file, or the default. */
export function originText({ origin, from }: { origin: string; from?: string | undefined }): string {
  if (origin === 'profile' && from !== undefined) return `profile ${from}`;
  return origin === 'profile' ? 'config file' : (from ?? origin);
}

/** A profile. `record` contains the key only masked; `key` is the key itself. */
export interface SavedProfile {
  readonly record: ProfileRecord;
  readonly baseUrl: string | undefined;
  readonly key: Secret;
}

/** A current profile that was never saved is included only if a flag or the environment provides its key or base URL. */
export function savedProfiles(current: Sourced, file: ConfigFile, io: Io): SavedProfile[] {
  const name = current.profile.value;
  const names = Object.keys(file.profiles);
  const isUsed =
    names.includes(name) || keySource(current).value !== undefined || current.baseUrl.value !== undefined;
  const all = isUsed && !names.includes(name) ? [name, ...names] : names;
  return all.map((profile) =>
    profile === name
      ? profileRecord(profile, true, current, io)
      : profileRecord(
          profile,
          false,
          resolveSettings({ flags: { profile }, env: {}, file, tolerant: true }),
          io,
        ),
  );
}

function profileRecord(profile: string, current: boolean, from: Sourced, io: Io): SavedProfile {
  const { baseUrl } = from;
  const key = keyOf(from, io);
  const kind = key.known === undefined ? 'unknown' : keyKind(key.known);
  return {
    baseUrl: baseUrl.value,
    key,
    record: {
      profile,
      current,
      baseUrl: baseUrl.value ?? null,
      baseUrlFrom: baseUrl.value === undefined ? null : originText(baseUrl),
      key: key.known === undefined ? null : maskKey(key.known),
      keyFrom: key.isSet ? (key.command ?? originText(from.key)) : null,
      mode: kind === 'unknown' ? null : kind,
    },
  };
}
