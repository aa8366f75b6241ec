import { Failure, usageError } from '../../base/failure.ts';
import type { Io } from '../io.ts';
import { saidText } from './secret-command.ts';

/** One run of the tool. A key is only ever on its stdin, because other users see its arguments. */
interface ToolRun {
  readonly args: readonly string[];
  readonly input?: string;
}

/** The tool with which a system keeps secrets. A profile is one entry, by its name. */
interface Keychain {
  readonly tool: string;
  readonly install: string;
  keep(profile: string, key: string): ToolRun;
  read(profile: string): ToolRun;
  remove(profile: string): ToolRun;
  /** Whether a failed `read` or `remove` says that there is no such entry. */
  isMissing(end: { readonly exitCode?: number | undefined; readonly stderr: string }): boolean;
}

const attributes = (profile: string) => ['service', 'trdr', 'profile', profile];
const item = (profile: string) => ['-s', 'trdr', '-a', profile];

const secretService: Keychain = {
  tool: 'secret-tool',
  install:
    'install it (libsecret-tools in Debian), and a keyring such as GNOME Keyring or KeePassXC',
  keep: (profile, key) => ({
    args: ['store', `--label=trdr, profile ${profile}`, ...attributes(profile)],
    input: key,
  }),
  read: (profile) => ({ args: ['lookup', ...attributes(profile)] }),
  remove: (profile) => ({ args: ['clear', ...attributes(profile)] }),
  isMissing: ({ exitCode, stderr }) => exitCode === 1 && stderr.trim() === '',
};

const macos: Keychain = {
  tool: 'security',
  install: 'it is a part of macOS, in /usr/bin',
  // Only its interactive mode reads a command, and with it the key, from stdin.
  keep: (profile, key) => ({
    args: ['-i'],
    input: `add-generic-password -U ${item(profile).join(' ')} -w "${key.replace(/["\\]/g, '\\$&')}"\n`,
  }),
  read: (profile) => ({ args: ['find-generic-password', ...item(profile), '-w'] }),
  remove: (profile) => ({ args: ['delete-generic-password', ...item(profile)] }),
  isMissing: ({ exitCode }) => exitCode === 44,
};

export function needKeychain({ platform }: Pick<Io, 'platform'>): Keychain {
  if (platform !== 'win32') return platform === 'darwin' ? macos : secretService;
  throw usageError(
    '--keychain does not work on Windows: no tool there prints a key that it keeps',
    'leave it out to save the key in the config file, or set TRDR_API_KEY',
  );
}

/** The `keyCommand` of a profile whose key is in the keychain. Names of profiles need no quotes. */
const keychainLine = ({ tool, read }: Keychain, profile: string): string =>
  [tool, ...read(profile).args].join(' ');

/**
 * Keeps a key, checks that it can be read again, and returns the command that prints it. An entry
 * of the same name that `isOwn` does not claim is that of another config folder, and stays as it
 * is.
 */
export async function keepInKeychain(
  io: Io,
  profile: string,
  key: string,
  isOwn: boolean,
): Promise<string> {
  const keychain = needKeychain(io);
  const before = await runTool(io, keychain, keychain.read(profile));
  if (before !== undefined && before.trim() !== key && !isOwn) {
    const clear = [keychain.tool, ...keychain.remove(profile).args].join(' ');
    throw new Failure('local', `the keychain already has another key of a profile "${profile}"`, {
      code: KEYCHAIN,
      hint: `choose another name with --profile; or remove that key: ${clear}`,
    });
  }
  await runTool(io, keychain, keychain.keep(profile, key));
  const kept = await runTool(io, keychain, keychain.read(profile));
  if (kept?.trim() !== key)
    throw new Failure('local', `${keychain.tool} does not give back the key that it was given`, {
      code: KEYCHAIN,
      hint: 'leave out --keychain to save the key in the config file',
    });
  return keychainLine(keychain, profile);
}

/** Removes the entry of a profile. False if there was none. */
export async function removeFromKeychain(io: Io, profile: string): Promise<boolean> {
  const keychain = needKeychain(io);
  return (await runTool(io, keychain, keychain.remove(profile))) !== undefined;
}

/** Whether this command reads the entry of a profile in the keychain of this system. */
export const isInKeychain = (io: Io, profile: string, line: unknown): boolean =>
  io.platform !== 'win32' && line === keychainLine(needKeychain(io), profile);

const KEYCHAIN = 'KEYCHAIN';
/** How long the tool may take; a person may have to unlock the keychain. */
const LIMIT_MS = 60_000;

/** What the tool prints. Undefined if there is no such entry. */
async function runTool(
  { env, cwd, signal }: Io,
  { tool, install, isMissing }: Keychain,
  { args, input = '' }: ToolRun,
): Promise<string | undefined> {
  const { execa } = await import('execa');
  const end = await execa(tool, args, {
    cwd,
    env: { ...env },
    extendEnv: false,
    input,
    cancelSignal: signal,
    timeout: LIMIT_MS,
    maxBuffer: 64 * 1024,
    reject: false,
  });
  signal.throwIfAborted();
  if (!end.failed) return end.stdout;
  if (isMissing(end)) return undefined;
  const isAbsent = end.code === 'ENOENT';
  throw new Failure(
    'local',
    `${tool} ${isAbsent ? 'is not installed' : 'failed'}${saidText(end.stderr)}`,
    {
      code: KEYCHAIN,
      hint: isAbsent
        ? install
        : `run "${tool}" yourself to see what is wrong; the keychain may be locked`,
    },
  );
}
