import { unlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { Failure, usageError } from '../../../base/failure.ts';
import { ensureFolder, type FileAct, inWords, readBounded } from '../../../base/files.ts';
import { writeAtomic } from '../../../base/replace-file.ts';
import { homeOf } from '../../../state/paths.ts';
import type { Io } from '../../io.ts';
import { completionFiles } from './file-names.ts';
import { completionScripts } from './scripts.ts';

export type Shell = keyof typeof completionFiles;

/** The file from which a shell loads a completion by itself, and what it needs for that. */
interface CompletionFile {
  readonly path: string;
  readonly needs?: string;
}

/**
 * Every script has this text in its first two lines, so that a file of somebody else is never
 * touched.
 */
const MARK = /^(?:#compdef trdr\n)?# Completion of trdr for /;
/** A file of somebody else may have any size. */
const LARGEST = 1024 * 1024;

const POWERSHELL =
  'PowerShell loads no file by itself; add this line to $PROFILE: trdr completion powershell | Out-String | Invoke-Expression';

/** The shell of the user, from the environment. */
export function shellOf({ env, platform }: Pick<Io, 'env' | 'platform'>): Shell {
  const name = basename(env['SHELL'] ?? '');
  if (name === 'bash' || name === 'zsh' || name === 'fish') return name;
  if (name === 'pwsh' || platform === 'win32') return 'powershell';
  throw usageError(
    'cannot tell your shell from the variable SHELL',
    'name it, for example: trdr completion install zsh',
  );
}

/**
 * Writes the script of a shell to the one place where the shell looks for it. Returns what to tell
 * the user.
 */
export function install(shell: Shell, io: Io): readonly string[] {
  if (shell === 'powershell') return [POWERSHELL];
  const { path, needs } = placeOf(shell, io);
  checkOurs(path, 'write to');
  try {
    ensureFolder(dirname(path));
    writeAtomic(path, completionScripts[completionFiles[shell]] ?? '', { private: false });
  } catch (error) {
    throw inWords('write to', path, error);
  }
  const wrote = `Wrote ${path}; a new shell loads it`;
  return needs === undefined ? [wrote] : [wrote, needs];
}

/** Removes the file that `install` wrote. */
export function uninstall(shell: Shell, io: Io): readonly string[] {
  if (shell === 'powershell') return ['remove the line with "trdr completion" from $PROFILE'];
  const { path } = placeOf(shell, io);
  if (!checkOurs(path, 'access')) return [`No completion is installed in ${path}`];
  try {
    unlinkSync(path);
  } catch (error) {
    throw inWords('access', path, error);
  }
  return [`Removed ${path}`];
}

/** Whether the file exists. Throws if it is not one that trdr wrote. */
function checkOurs(path: string, act: FileAct): boolean {
  let text: string | undefined;
  try {
    text = readBounded(path, LARGEST);
  } catch (error) {
    throw inWords(act, path, error);
  }
  if (text === undefined || MARK.test(text)) return text !== undefined;
  throw new Failure('local', `${path} was not written by trdr, so it stays as it is`, {
    code: 'FOREIGN_FILE',
    hint: 'move it away, or use "trdr completion" to print the script',
  });
}

function placeOf(
  shell: Exclude<Shell, 'powershell'>,
  io: Pick<Io, 'env' | 'platform'>,
): CompletionFile {
  const { env } = io;
  const home = homeOf(env, io.platform, homedir);
  const base = (name: string, ...parts: readonly string[]) => {
    const named = env[name];
    // The XDG specification says that relative paths must be ignored.
    if (named && isAbsolute(named)) return named;
    if (home !== undefined) return join(home, ...parts);
    throw new Failure('local', 'no home directory', { code: 'NO_HOME', hint: 'set HOME' });
  };
  const data = () => base('XDG_DATA_HOME', '.local', 'share');
  switch (shell) {
    case 'bash': {
      const own = env['BASH_COMPLETION_USER_DIR']?.split(delimiter)[0];
      const needs =
        'bash needs the package bash-completion for this; without it, add this line to ~/.bashrc: source <(trdr completion bash)';
      return { path: join(own || join(data(), 'bash-completion'), 'completions', 'trdr'), needs };
    }
    case 'fish':
      return { path: join(base('XDG_CONFIG_HOME', '.config'), 'fish', 'completions', 'trdr.fish') };
    case 'zsh': {
      const folder = join(data(), 'zsh', 'site-functions');
      const isKnown = env['FPATH']?.split(delimiter).includes(folder);
      const needs = `add this line to ~/.zshrc, before compinit, unless it is there: fpath=('${folder}' $fpath)`;
      return { path: join(folder, '_trdr'), ...(!isKnown && { needs }) };
    }
  }
}
