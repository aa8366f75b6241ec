import path from 'node:path';
import { quietly } from '../base/calls.ts';
import { Failure } from '../base/failure.ts';

interface FolderInputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly home: string | undefined;
  readonly cwd: string;
}

/** Undefined if neither the environment nor a home directory determines the folder. */
export type Folders = Readonly<Record<'config' | 'state' | 'cache', string | undefined>>;

/**
 * From trdr's own variables, the XDG variables, or the defaults of the system. Does not access the
 * disk.
 */
export function foldersOf({ env, platform, home, cwd }: FolderInputs): Folders {
  const windows = platform === 'win32';
  const { join, resolve, isAbsolute } = windows ? path.win32 : path.posix;
  const own = (name: string) => (env[name] ? resolve(cwd, env[name]) : undefined);
  // The XDG specification says that relative paths must be ignored.
  const base = (name: string) => (env[name] && isAbsolute(env[name]) ? env[name] : undefined);
  const under = (folder: string | undefined, ...parts: string[]) =>
    folder && join(folder, ...parts);
  const atHome = home !== undefined && isAbsolute(home) ? home : undefined;
  const roaming = windows ? (base('APPDATA') ?? under(atHome, 'AppData', 'Roaming')) : undefined;
  const local = windows ? (base('LOCALAPPDATA') ?? under(atHome, 'AppData', 'Local')) : undefined;
  const defaults = windows
    ? {
        config: under(roaming, 'trdr'),
        state: under(local, 'trdr', 'state'),
        cache: under(local, 'trdr', 'cache'),
      }
    : {
        config: under(atHome, '.config', 'trdr'),
        state: under(atHome, '.local', 'state', 'trdr'),
        cache: under(
          atHome,
          ...(platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']),
          'trdr',
        ),
      };
  return {
    config: own('TRDR_CONFIG_DIR') ?? under(base('XDG_CONFIG_HOME'), 'trdr') ?? defaults.config,
    state: own('TRDR_STATE_DIR') ?? under(base('XDG_STATE_HOME'), 'trdr') ?? defaults.state,
    cache: own('TRDR_CACHE_DIR') ?? under(base('XDG_CACHE_HOME'), 'trdr') ?? defaults.cache,
  };
}

export function homeOf(
  env: FolderInputs['env'],
  platform: string,
  system: () => string,
): string | undefined {
  const named = platform === 'win32' ? env['USERPROFILE'] : env['HOME'];
  if (named) return named;
  // Node throws if the user id is not in the password file, which is common in containers.
  return quietly(system) || undefined;
}

/** Its former path if it was deleted. */
export function workingFolder(env: FolderInputs['env']): string {
  try {
    return process.cwd();
  } catch {
    return env['PWD'] || '/';
  }
}

export function needFolder(folders: Folders, which: keyof Folders): string {
  const folder = folders[which];
  if (folder !== undefined) return folder;
  throw new Failure('local', `no home directory for the ${which} folder`, {
    code: 'NO_HOME',
    hint: `set HOME, or set TRDR_${which.toUpperCase()}_DIR to a folder`,
  });
}
