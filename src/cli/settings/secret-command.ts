import { quietly } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import { withoutKeys } from '../../core/client/mask-key.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { Io } from '../io.ts';
import { canAsk, isAttended } from '../prompt.ts';

export const SECRET_COMMAND = 'SECRET_COMMAND';

/** How long the command may take; a person may have to unlock a password manager. */
const LIMIT_MS = 30_000;
/**
 * How long to read the output of a command after its end: a background process may keep it open.
 */
const REST_MS = 1_000;
const LONGEST = 64 * 1024;

export async function printedSecret(
  name: string,
  line: string,
  io: Io,
  read: (text: string, where: string, hint: string) => string,
): Promise<string> {
  if (io.platform === 'win32')
    throw failed(
      name,
      'cannot run: it needs /bin/sh, which Windows does not have',
      'set TRDR_API_KEY or TRDR_STORE_PASSWORD in its place',
    );
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
  const { execa } = await import('execa');
  // With a terminal, the command stays in the session, so that it can ask for a passphrase.
  const isAlone = !canAsk(io);
  const child = execa('/bin/sh', ['-c', line], {
    cwd,
    env: { ...env },
    extendEnv: false,
    stdin: isAttended(io) ? 'inherit' : 'ignore',
    detached: isAlone,
    // A key is short. The messages of the command may be long, and only their end is kept.
    maxBuffer: { stdout: LONGEST },
    buffer: { stderr: false },
    stripFinalNewline: false,
    cleanup: false,
    reject: false,
  });
  let said = '';
  child.stderr.on('data', (part: Buffer) => {
    said = (said + part).slice(-LONGEST);
    if (!isAlone) io.stderr.write(part);
  });
  const stopReading = () => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  child.once('exit', () => clock.sleep(REST_MS, until).then(stopReading, () => {}));
  const late = clock.sleep(LIMIT_MS, until).then(() => undefined);
  try {
    const end = await Promise.race([child, late]);
    if (end?.exitCode === 0 && !end.isMaxBuffer) return end.stdout;
    const why = end ? endText(end) : `did not end within ${LIMIT_MS / 1_000}s`;
    throw failed(name, `${why}${saidText(said)}`);
  } finally {
    done.abort();
    const { pid } = child;
    // It fails if the command has already ended. execa would end the shell, but not what the shell
    // has started.
    quietly(() =>
      isAlone && pid !== undefined ? process.kill(-pid, 'SIGKILL') : child.kill('SIGKILL'),
    );
    stopReading();
  }
}

/** The end of what a command has said, as a part of a sentence. */
export function saidText(said: string): string {
  const line = safeLine(withoutKeys(said.trim().slice(-500)).replace(/\s+/g, ' '));
  return line && `: ${line}`;
}

interface Ending {
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly code?: string | undefined;
  readonly isMaxBuffer: boolean;
}

function endText({ exitCode, signal, code, isMaxBuffer }: Ending): string {
  if (isMaxBuffer) return `printed more than ${LONGEST / 1024} KiB`;
  if (exitCode !== undefined) return `failed with exit code ${exitCode}`;
  return signal === undefined ? `cannot be started: ${code}` : `was ended by ${signal}`;
}
