import { execFile } from 'node:child_process';

type Environment = Readonly<Record<string, string | undefined>>;

/** After this time, the program that sends a message is killed. It normally needs a few milliseconds. */
const TIMEOUT_MS = 5_000;

/** Reports the state as described in sd_notify(3); undefined if no service manager expects notifications. */
export function openServiceManager(
  env: Environment,
  warn: (text: string) => void,
  send: (lines: readonly string[]) => Promise<void> = sendByProgram(env),
) {
  const socket = env['NOTIFY_SOCKET'];
  if (socket === undefined || socket === '') return undefined;
  let waiting: Record<string, string | number> = {};
  let sending: Promise<void> | undefined;
  let warned = false;

  const pump = async () => {
    while (Object.keys(waiting).length > 0) {
      const lines = Object.entries(waiting).map(
        ([name, value]) => `${name}=${oneLine(String(value))}`,
      );
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
    /** The service manager expects a notification in each interval of this length; undefined without a watchdog. */
    watchdogMs: watchdogOf(env),
    /** Sends the state after the message in progress. States that wait meanwhile are merged into one message. */
    notify(state: Readonly<Record<string, string | number>>): void {
      waiting = { ...waiting, ...state };
      sending ??= pump();
    },
    /** Resolves when all messages were sent or have failed. */
    settled: async (): Promise<void> => sending,
  };
}

const oneLine = (text: string) => text.replace(/[\r\n]+/g, ' ');

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The interval of the watchdog in ms; undefined if no watchdog monitors this process. */
function watchdogOf(env: Environment): number | undefined {
  const ms = Number(env['WATCHDOG_USEC']) / 1_000;
  const pid = env['WATCHDOG_PID'];
  if (!(ms > 0) || (pid !== undefined && pid !== '' && Number(pid) !== process.pid))
    return undefined;
  return ms;
}

/** Node has no Unix datagram sockets: `systemd-notify` is a part of systemd, `socat` is for containers without it. */
function sendByProgram(env: Environment) {
  const socket = env['NOTIFY_SOCKET'] ?? '';
  const own = { PATH: env['PATH'], NOTIFY_SOCKET: socket };
  const address = socket.startsWith('@')
    ? `ABSTRACT-SENDTO:${socket.slice(1)}`
    : `UNIX-SENDTO:${socket.replace(/[\\,:!"'[\]{}]/g, '\\$&')}`;
  let hasNotify = true;
  return async (lines: readonly string[]): Promise<void> => {
    hasNotify &&= await runProgram('systemd-notify', lines, own, '');
    if (hasNotify) return;
    if (await runProgram('socat', ['-u', '-', address], own, `${lines.join('\n')}\n`)) return;
    throw new Error('neither systemd-notify nor socat is installed');
  };
}

/** Runs a program until it exits; resolves to false if it is not installed, and rejects if it fails. */
const runProgram = (program: string, args: readonly string[], env: Environment, input: string) =>
  new Promise<boolean>((resolve, reject) => {
    const limits = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
    const child = execFile(program, args, { env, ...limits }, (error) => {
      if (error && error.code !== 'ENOENT')
        reject(new Error(`${program} failed (${error.code ?? 'killed'})`));
      else resolve(error === null);
    });
    child.stdin?.on('error', () => {}).end(input);
  });
