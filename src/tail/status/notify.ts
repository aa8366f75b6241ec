import { execFile } from 'node:child_process';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * After this time, the program that sends a message is killed. It normally needs a few
 * milliseconds.
 */
const TIMEOUT_MS = 5_000;

/**
 * Reports the state as described in sd_notify(3); undefined if no service manager expects
 * notifications.
 */
export function openServiceManager(
  env: Environment,
  warn: (text: string) => void,
  send: (lines: readonly string[]) => Promise<void> = sendByProgram(env),
): ServiceManager | undefined {
  const socket = env['NOTIFY_SOCKET'];
  if (socket === undefined || socket === '') return undefined;
  return new ServiceManager(watchdogOf(env), warn, send);
}

/** Sends states to the service manager, one message at a time. */
export class ServiceManager {
  /**
   * The service manager expects a notification in each interval of this length; undefined without a
   * watchdog.
   */
  readonly watchdogMs: number | undefined;
  /** What the next message says. */
  #waiting: Readonly<Record<string, string | number>> = {};
  #sending: Promise<void> | undefined;
  #hasWarned = false;
  readonly #warn: (text: string) => void;
  readonly #send: (lines: readonly string[]) => Promise<void>;

  constructor(
    watchdogMs: number | undefined,
    warn: (text: string) => void,
    send: (lines: readonly string[]) => Promise<void>,
  ) {
    this.watchdogMs = watchdogMs;
    this.#warn = warn;
    this.#send = send;
  }

  /**
   * Sends the state after the message in progress. States that wait meanwhile are merged into one
   * message.
   */
  notify(state: Readonly<Record<string, string | number>>): void {
    this.#waiting = { ...this.#waiting, ...state };
    this.#sending ??= this.#sendAll();
  }

  /** Resolves when all messages were sent or have failed. */
  async settled(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (Object.keys(this.#waiting).length > 0) {
      const lines = Object.entries(this.#waiting).map(
        ([name, value]) => `${name}=${oneLine(String(value))}`,
      );
      this.#waiting = {};
      try {
        await this.#send(lines);
      } catch (error) {
        if (!this.#hasWarned)
          this.#warn(`warning: cannot notify the service manager: ${reasonOf(error)}`);
        this.#hasWarned = true;
      }
    }
    this.#sending = undefined;
  }
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

/**
 * Node has no Unix datagram sockets: `systemd-notify` is a part of systemd, `socat` is for
 * containers without it.
 */
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

/**
 * Runs a program until it exits; resolves to false if it is not installed, and rejects if it fails.
 */
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
