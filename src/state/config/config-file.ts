import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { Failure } from '../../base/failure.ts';
import { errno, fileFailure, readBounded } from '../../base/files.ts';

/** The version of the file that this trdr writes and reads. */
const CONFIG_VERSION = 1;
/** More than any hand or trdr writes. */
const LARGEST = 1024 * 1024;

/** The schemas of the file, made when there is a file to read: many runs have their settings of the environment. */
function makeSchemas() {
  /** What trdr does not know of is kept. */
  const Profile = z.looseObject({ key: z.optional(z.string()), storePassword: z.optional(z.string()) });
  const ConfigFile = z.looseObject({
    version: z.literal(CONFIG_VERSION),
    /** The profile that is used where nobody names one. */
    current: z.optional(z.string()),
    profiles: z.record(z.string(), Profile),
  });
  return { ConfigFile, AnyVersion: z.looseObject({ version: z.number() }) };
}

export type ConfigFile = z.infer<ReturnType<typeof makeSchemas>['ConfigFile']>;
/** A profile as it stands in the file. */
export type Profile = ConfigFile['profiles'][string];

export const emptyConfig: ConfigFile = { version: CONFIG_VERSION, profiles: {} };
/** The name of the profile that stands where none was named. */
export const DEFAULT_PROFILE = 'default';

/** The profile of a name; undefined where there is none. */
export const profileOf = (file: ConfigFile, name: string): Profile | undefined =>
  Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;

/** A failure that names the profiles there are. */
export function noProfile(file: ConfigFile, name: string): Failure {
  const names = Object.keys(file.profiles);
  const hint =
    names.length === 0
      ? 'there is none yet: run "trdr auth login"'
      : `there are ${names.join(', ')}; "trdr auth login --profile NAME" makes another`;
  return new Failure('usage', `there is no profile "${name}"`, { code: 'NO_PROFILE', hint });
}

/** Reads the config file; where there is none, or an empty one, it says nothing yet. */
export function readConfig(path: string | undefined): ConfigFile {
  if (path === undefined) return emptyConfig;
  let text: string | undefined;
  try {
    text = readBounded(path, LARGEST);
  } catch (error) {
    // What belongs to another user can't be moved away either.
    const isForeign = errno(error) === 'EACCES' || errno(error) === 'EPERM';
    throw fileFailure('read the settings in', path, error, isForeign ? ownFolder(path) : wayOut(path));
  }
  return text === undefined ? emptyConfig : parseConfig(text, path);
}

/** Reads the text of a config file. No failure repeats any of it: there are keys in it. */
export function parseConfig(given: string, path: string): ConfigFile {
  // Editors on Windows put a byte order mark at the beginning.
  const text = given.replace(/^\uFEFF/, '');
  if (text.trim() === '') return emptyConfig;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw corrupt(path, `it is no JSON${lineOf(text, error)}`);
  }
  const { AnyVersion, ConfigFile } = makeSchemas();
  const version = AnyVersion.safeParse(value).data?.version;
  if (version !== undefined && version > CONFIG_VERSION) {
    throw new Failure('local', `the settings in ${path} are of a newer trdr (version ${version})`, {
      code: 'CONFIG_NEWER',
      hint: 'upgrade trdr, or set TRDR_CONFIG_DIR to another folder',
    });
  }
  const result = ConfigFile.safeParse(value);
  if (result.success) return result.data;
  const at = result.error.issues[0]?.path[0];
  throw corrupt(
    path,
    at === undefined ? 'it is no settings file' : `"${String(at)}" is not what it should be`,
  );
}

const wayOut = (path: string) =>
  `mend it by hand, or move it away and log in again: mv '${path}' '${path}.broken' && trdr auth login`;

const ownFolder = (path: string) =>
  `make it yours: sudo chown -R "$(id -u)" '${dirname(path)}'; or set TRDR_CONFIG_DIR to a folder of your own`;

const corrupt = (path: string, why: string) =>
  new Failure('local', `the settings in ${path} can't be read: ${why}`, {
    code: 'CONFIG_CORRUPT',
    hint: wayOut(path),
  });

/** The engine's message quotes the text around the error, which may be a key: only the place is taken. */
function lineOf(text: string, error: unknown): string {
  const at = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return at === undefined ? '' : ` (line ${text.slice(0, Number(at)).split('\n').length})`;
}
