import path from 'node:path';
import { Failure } from '../base/failure.ts';

/** What decides where trdr keeps its files. */
export interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** The user's home, where the system knows one. */
  readonly home: string | undefined;
  readonly cwd: string;
}

/** The folders of a user; undefined where neither the environment nor a home tells one. */
export interface Folders {
  readonly config: string | undefined;
  readonly state: string | undefined;
  readonly cache: string | undefined;
}

/** Finds the folders: trdr's own variables first, then XDG's, then the system's habit. Touches nothing. */
export function foldersOf({ env, platform, home, cwd }: Place): Folders {
  const windows = platform === 'win32';
  const { join, resolve, isAbsolute } = windows ? path.win32 : path.posix;
  const own = (name: string) => (env[name] ? resolve(cwd, env[name]) : undefined);
  // A relative XDG path is to be ignored, says its specification.
  const base = (name: string) => (env[name] && isAbsolute(env[name]) ? env[name] : undefined);
  const under = (folder: string | undefined, ...parts: string[]) => folder && join(folder, ...parts);
  const atHome = home !== undefined && isAbsolute(home) ? home : undefined;
  const roaming = windows ? (base('APPDATA') ?? under(atHome, 'AppData', 'Roaming')) : undefined;
  const local = windows ? (base('LOCALAPPDATA') ?? under(atHome, 'AppData', 'Local')) : undefined;
  const habit = windows
    ? {
        config: under(roaming, 'trdr'),
        state: under(local, 'trdr', 'state'),
        cache: under(local, 'trdr', 'cache'),
      }
    : {
        config: under(atHome, '.config', 'trdr'),
        state: under(atHome, '.local', 'state', 'trdr'),
        cache:
          platform === 'darwin'
            ? under(atHome, 'Library', 'Caches', 'trdr')
            : under(atHome, '.cache', 'trdr'),
      };
  return {
    config: own('TRDR_CONFIG_DIR') ?? under(base('XDG_CONFIG_HOME'), 'trdr') ?? habit.config,
    state: own('TRDR_STATE_DIR') ?? under(base('XDG_STATE_HOME'), 'trdr') ?? habit.state,
    cache: own('TRDR_CACHE_DIR') ?? under(base('XDG_CACHE_HOME'), 'trdr') ?? habit.cache,
  };
}

/** The user's home: the environment's word, else the system's; undefined where neither has one. */
export function homeOf(env: Place['env'], platform: string, system: () => string): string | undefined {
  const named = platform === 'win32' ? env['USERPROFILE'] : env['HOME'];
  if (named) return named;
  try {
    // Throws for a user id without an entry in the password file, as containers have.
    return system() || undefined;
  } catch {
    return undefined;
  }
}

/** Where the process stands. The folder may have been deleted meanwhile: its name is as good as any then. */
export function workingFolder(env: Place['env']): string {
  try {
    return process.cwd();
  } catch {
    return env['PWD'] || '/';
  }
}

/** The folder, or a failure that tells how to name one: for what cannot do without it. */
export function needFolder(folders: Folders, which: keyof Folders): string {
  const folder = folders[which];
  if (folder !== undefined) return folder;
  throw new Failure('local', `no home directory for the ${which} folder`, {
    code: 'NO_HOME',
    hint: `set HOME, or name a folder with TRDR_${which.toUpperCase()}_DIR`,
  });
}
