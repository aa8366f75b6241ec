import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { Failure } from '../../base/failure.ts';
import { errno, fileFailure, readBounded } from '../../base/files.ts';

const CONFIG_VERSION = 1;
const LARGEST = 1024 * 1024;

/** Created only when a file is read, because many runs read none. */
function makeSchemas() {
  const Profile = z.looseObject({ key: z.optional(z.string()), storePassword: z.optional(z.string()) });
  const ConfigFile = z.looseObject({
    version: z.literal(CONFIG_VERSION),
    current: z.optional(z.string()),
    profiles: z.record(z.string(), Profile),
  });
  return { ConfigFile, AnyVersion: z.looseObject({ version: z.number() }) };
}

export type ConfigFile = z.infer<ReturnType<typeof makeSchemas>['ConfigFile']>;
export type Profile = ConfigFile['profiles'][string];

export const emptyConfig: ConfigFile = { version: CONFIG_VERSION, profiles: {} };
export const DEFAULT_PROFILE = 'default';

export const profileOf = (file: ConfigFile, name: string): Profile | undefined =>
  Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;

export function noProfile(file: ConfigFile, name: string): Failure {
  const names = Object.keys(file.profiles);
  const hint =
    names.length === 0
      ? 'no profiles are saved yet: run "trdr auth login"'
      : `available profiles: ${names.join(', ')}; "trdr auth login --profile NAME" creates another`;
  return new Failure('usage', `unknown profile "${name}"`, { code: 'NO_PROFILE', hint });
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
    throw fileFailure('read the settings in', path, error, isForeign ? ownFolder(path) : fixHint(path));
  }
  return text === undefined ? emptyConfig : parseConfig(text, path);
}

/** Error messages never quote the text, because it contains keys. @internal Exported for tests. */
export function parseConfig(given: string, path: string): ConfigFile {
  // Editors on Windows add a byte order mark.
  const text = given.replace(/^\uFEFF/, '');
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
    throw new Failure('local', `${path} was written by a newer version of trdr (format version ${version})`, {
      code: 'CONFIG_NEWER',
      hint: 'upgrade trdr, or set TRDR_CONFIG_DIR to a different folder',
    });
  }
  const result = ConfigFile.safeParse(value);
  if (result.success) return result.data;
  const at = result.error.issues[0]?.path[0];
  throw corrupt(path, at === undefined ? 'not a config file' : `invalid value for "${String(at)}"`);
}

const fixHint = (path: string) =>
  `fix it by hand, or move it away and log in again: mv '${path}' '${path}.broken' && trdr auth login`;

const ownFolder = (path: string) =>
  `take ownership: sudo chown -R "$(id -u)" '${dirname(path)}'; or set TRDR_CONFIG_DIR to a folder that you own`;

const corrupt = (path: string, why: string) =>
  new Failure('local', `cannot read the settings in ${path}: ${why}`, {
    code: 'CONFIG_CORRUPT',
    hint: fixHint(path),
  });

/** JavaScript's message quotes the text around the error, which may contain an API key. */
function lineOf(text: string, error: unknown): string {
  const at = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return at === undefined ? '' : ` (line ${text.slice(0, Number(at)).split('\n').length})`;
}
