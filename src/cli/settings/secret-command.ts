import { spawn } from 'node:child_process';
import { quietly } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import { errno } from '../../base/files.ts';
import { withoutKeys } from '../../core/client/mask-key.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { Io } from '../io.ts';
import { canAsk, isAttended } from '../output/prompt.ts';
import { SECRET_COMMAND } from './settings.ts';

/** How long the command may take; a person may have to unlock a password manager. */
const LIMIT_MS = 30_000;
/** How long to read the output of a command after its end: a background process may keep it open. */
const REST_MS = 1_000;
const LONGEST = 64 * 1024;

export async function printedSecret(
  name: string,
  line: string,
  io: Io,
  read: (text: string, where: string, hint: string) => string,
): Promise<string> {
  const text = (await outputOf(name, line, io)).replace(/\r?\n$/, '');
  if (text.trim() === '') throw failed(name, 'printed nothing');
  if (/[\r\n]/.test(text))
    throw failed(
      name,
      'printed several lines',
      'print only the secret, for example with "... | head -n 1"',
    );
  return read(text, `the output of ${name}`, 'print the key exactly as you received it');
}

const failed = (
  name: string,
  why: string,
  hint = `run the command of ${name} yourself to see what is wrong`,
) => new Failure('auth', `the command of ${name} ${why}`, { code: SECRET_COMMAND, hint });

async function outputOf(name: string, line: string, io: Io): Promise<string> {
  const { env, cwd, signal, clock } = io;
  signal.throwIfAborted();
  // With a terminal, the command stays in the session, so that it can ask for a passphrase.
  const isAlone = !canAsk(io);
  const child = spawn('/bin/sh', ['-c', line], {
    ...{ cwd, env: { ...env } },
    stdio: [isAttended(io) ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    detached: isAlone,
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (part: Buffer) => {
    out = (out + part).slice(0, LONGEST);
  });
  child.stderr.on('data', (part: Buffer) => {
    err = (err + part).slice(-LONGEST);
    if (!isAlone) io.stderr.write(part);
  });
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  try {
    const ended = new Promise<string | undefined>((resolve) => {
      child.once('error', (error) => resolve(`cannot be started: ${errno(error)}`));
      child.once('exit', (code, killed) => {
        const why = killed === null ? `failed with exit code ${code}` : `was ended by ${killed}`;
        const settle = () => resolve(code === 0 ? undefined : why);
        child.once('close', settle);
        clock.sleep(REST_MS, until).then(settle, settle);
      });
    });
    const late = clock.sleep(LIMIT_MS, until).then(() => `did not end within ${LIMIT_MS / 1_000}s`);
    const why = await Promise.race([ended, late]);
    if (why === undefined) return out;
    const said = safeLine(withoutKeys(err.trim().slice(-500)).replace(/\s+/g, ' '));
    throw failed(name, `${why}${said === '' ? '' : `: ${said}`}`);
  } finally {
    done.abort();
    const { pid } = child;
    // It fails if the command has already ended.
    quietly(() =>
      isAlone && pid !== undefined ? process.kill(-pid, 'SIGKILL') : child.kill('SIGKILL'),
    );
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
