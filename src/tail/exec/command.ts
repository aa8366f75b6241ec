import { constants as systemConstants } from 'node:os';
import { quietly } from '../../base/calls.ts';
import { childEnv } from '../../core/client/child-env.ts';
import type { Batch, CommandEnd } from './delivery.ts';

/** Where a command runs. */
export interface CommandPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
}

/** Ids are untrusted text, so only those of common characters are passed in the environment. */
const plainId = /^[\w.:-]{1,200}$/;

/**
 * Runs the text of `--exec` in a shell, which shares the stdout and stderr of this program. The
 * command has ended when the shell has, even if it left a process in the background that keeps the
 * input open.
 */
export async function runCommand(
  text: string,
  { env, cwd, platform }: CommandPlace,
  { number, rows }: Batch,
  attempt: number,
): Promise<CommandEnd> {
  const { execa } = await import('execa');
  const windows = platform === 'win32';
  const shell = windows ? (env['ComSpec'] ?? 'cmd.exe') : '/bin/sh';
  const child = execa(text, {
    shell,
    cwd,
    env: { ...childEnv(env), ...describe(number, rows, attempt) },
    extendEnv: false,
    input: Buffer.concat(rows.map(({ line }) => line)),
    stdout: 'inherit',
    stderr: 'inherit',
    // Start a separate process group, so that Ctrl-C does not reach the command and the command can
    // finish.
    detached: !windows,
    // At the end of this program execa would end the shell, but not what the shell has started.
    cleanup: false,
    reject: false,
  });
  const kill = () => {
    if (child.pid === undefined) return;
    quietly(() => (windows ? child.kill() : process.kill(-Number(child.pid), 'SIGKILL')));
  };
  // A second signal ends this process at once, so end the command too.
  process.once('exit', kill);
  child.once('exit', () => child.stdin.destroy());
  const { exitCode, signal, code } = await child;
  process.removeListener('exit', kill);
  if (exitCode === 0) return { ok: true };
  if (exitCode !== undefined) return { ok: false, why: `exit code ${exitCode}`, code: exitCode };
  if (signal !== undefined) {
    const number = systemConstants.signals[signal];
    return { ok: false, why: `killed by ${signal}`, code: 128 + number };
  }
  const why = `cannot start ${shell}: ${code}`;
  return { ok: false, why, code: code === 'ENOENT' ? 127 : 126 };
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
