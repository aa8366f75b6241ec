import { spawn } from 'node:child_process';
import type { Clock } from '../../../base/clock.ts';
import type { Io } from '../../io.ts';

/** Sends assignments such as `READY=1` to the service manager. */
type SendState = (lines: readonly string[]) => Promise<void>;

/** Reports the state of the tail to the service manager, as described in sd_notify(3). */
export interface ServiceManager {
  /** The service manager expects a notification in each interval of this length; undefined without a watchdog. */
  readonly watchdogMs: number | undefined;
  /**
   * Sends the state after the message in progress. States that wait meanwhile are merged into one message.
   */
  notify(state: Readonly<Record<string, string | number>>): void;
  /** Resolves when all messages were sent or have failed. */
  settled(): Promise<void>;
}

/** After this time, the program that sends a message is killed. It normally needs a few milliseconds. */
const TIMEOUT_MS = 5_000;

/** The service manager of this process; undefined if no service manager expects notifications. */
export function openServiceManager(
  { env, clock }: Pick<Io, 'env' | 'clock'>,
  warn: (text: string) => void,
  send: SendState = sendByProgram(env, clock),
): ServiceManager | undefined {
  const socket = env['NOTIFY_SOCKET'];
  if (socket === undefined || socket === '') return undefined;
  let waiting: Record<string, string | number> = {};
  let sending: Promise<void> | undefined;
  let warned = false;

  const pump = async () => {
    while (Object.keys(waiting).length > 0) {
      const lines = Object.entries(waiting).map(([name, value]) => `${name}=${oneLine(String(value))}`);
      waiting = {};
      try {
        await send(lines);
      } catch (error) {
        if (!warned) warn(`warning: cannot notify the service manager: ${reasonOf(error)}`);
        warned = true;
      }
    }
    sending = undefined;
  };

  return {
    watchdogMs: watchdogOf(env),
    notify(state) {
      waiting = { ...waiting, ...state };
      sending ??= pump();
    },
    settled: async () => sending,
  };
}

const oneLine = (text: string) => text.replace(/[\r\n]+/g, ' ');

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The interval of the watchdog in ms; undefined if no watchdog monitors this process. */
function watchdogOf(env: Io['env']): number | undefined {
  const ms = Number(env['WATCHDOG_USEC']) / 1_000;
  const pid = env['WATCHDOG_PID'];
  if (!(ms > 0) || (pid !== undefined && pid !== '' && Number(pid) !== process.pid)) return undefined;
  return ms;
}

/**
 * Sends messages with another program, because Node has no Unix datagram sockets: `systemd-notify`, a part of
 * systemd, or `socat` for containers without systemd.
 */
function sendByProgram(env: Io['env'], clock: Clock): SendState {
  const socket = env['NOTIFY_SOCKET'] ?? '';
  const own = { PATH: env['PATH'], NOTIFY_SOCKET: socket };
  const address = socket.startsWith('@')
    ? `ABSTRACT-SENDTO:${socket.slice(1)}`
    : `UNIX-SENDTO:${socket.replace(/[\\,:!"'[\]{}]/g, '\\$&')}`;
  let hasNotify = true;
  return async (lines) => {
    if (hasNotify) {
      const found = await runProgram(clock, 'systemd-notify', lines, own, '');
      if (found) return;
      hasNotify = false;
    }
    if (await runProgram(clock, 'socat', ['-u', '-', address], own, `${lines.join('\n')}\n`)) return;
    throw new Error('neither systemd-notify nor socat is installed');
  };
}

/** Runs a program until it exits; returns false if it is not installed, and throws if it fails. */
async function runProgram(
  clock: Clock,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  input: string,
): Promise<boolean> {
  const late = new AbortController();
  const child = spawn(program, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.on('error', () => {}).end(input);
  void clock.sleep(TIMEOUT_MS, late.signal).then(
    () => child.kill('SIGKILL'),
    () => {},
  );
  try {
    return await new Promise<boolean>((resolve, reject) => {
      child.once('error', (error) =>
        'code' in error && error.code === 'ENOENT' ? resolve(false) : reject(error),
      );
      child.once('exit', (code) =>
        code === 0 ? resolve(true) : reject(new Error(`${program} failed (${code ?? 'killed'})`)),
      );
    });
  } finally {
    late.abort();
  }
}
