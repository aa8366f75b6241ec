import { spawn } from 'node:child_process';
import { constants as systemConstants } from 'node:os';
import { errno } from '../../base/files.ts';
import type { Batch, CommandEnd } from './delivery.ts';

/** Where a command runs. */
export interface CommandPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
}

/** Variables that are not passed to the command: secrets, and those meant for this process only. */
const withheld = new Set([
  'TRDR_API_KEY',
  'TRDR_STORE_PASSWORD',
  'NOTIFY_SOCKET',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
]);
/** Ids are untrusted text, so only those of common characters are passed in the environment. */
const plainId = /^[\w.:-]{1,200}$/;

/** Runs the text of `--exec` in a shell, which shares the stdout and stderr of this program. */
export function runCommand(
  text: string,
  { env, cwd, platform }: CommandPlace,
  { number, rows }: Batch,
  attempt: number,
): Promise<CommandEnd> {
  const windows = platform === 'win32';
  const [file, words] = windows
    ? [env['ComSpec'] ?? 'cmd.exe', ['/d', '/s', '/c', `"${text}"`]]
    : ['/bin/sh', ['-c', text]];
  const passed = Object.entries(env).filter(([name]) => !withheld.has(name.toUpperCase()));
  const child = spawn(file, words, {
    cwd,
    env: { ...Object.fromEntries(passed), ...describe(number, rows, attempt) },
    stdio: ['pipe', 'inherit', 'inherit'],
    // Start a separate process group, so that Ctrl-C does not reach the command and the command can finish.
    detached: !windows,
    windowsHide: true,
    windowsVerbatimArguments: windows && file.toLowerCase().endsWith('cmd.exe'),
  });
  const kill = () => {
    if (child.pid === undefined) return;
    try {
      if (windows) child.kill();
      else process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Ignore the error: the command has already ended.
    }
  };
  // A second signal ends this process at once, so end the command too.
  process.once('exit', kill);
  return new Promise<CommandEnd>((settle) => {
    child.once('error', (error) => {
      const why = `cannot start ${file}: ${errno(error)}`;
      settle({ ok: false, why, code: errno(error) === 'ENOENT' ? 127 : 126 });
    });
    child.once('exit', (code, signal) => {
      if (code === 0) settle({ ok: true });
      else if (signal === null) settle({ ok: false, why: `exit code ${code}`, code: code ?? 1 });
      else
        settle({
          ok: false,
          why: `killed by ${signal}`,
          code: 128 + systemConstants.signals[signal],
        });
    });
    // Ignore write errors: a command need not read its input, and only its exit code matters.
    child.stdin.on('error', () => {});
    child.stdin.end(Buffer.concat(rows.map(({ line }) => line)));
  }).finally(() => {
    process.removeListener('exit', kill);
    child.stdin.destroy();
  });
}

function describe(number: number, rows: Batch['rows'], attempt: number): Record<string, string> {
  const id = (row: Batch['rows'][number] | undefined) =>
    row !== undefined && plainId.test(row.id) ? row.id : '';
  return {
    TRDR_BATCH: String(number),
    TRDR_ROWS: String(rows.length),
    TRDR_FIRST_ID: id(rows[0]),
    TRDR_LAST_ID: id(rows.at(-1)),
    TRDR_ATTEMPT: String(attempt),
  };
}
